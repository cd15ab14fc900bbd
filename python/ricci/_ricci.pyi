# The extension; what of it is public is declared in __init__.pyi.
from typing import Any

def __getattr__(name: str) -> Any: ...

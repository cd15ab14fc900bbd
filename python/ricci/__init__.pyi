# Types of the package. _Array: an object that offers DLPack, a buffer or __cuda_array_interface__; numbers and nested
# sequences of them become NumPy arrays.
from collections.abc import Callable, Sequence
from typing import Any, Literal

from . import cache as cache

_Array = Any
_DTypeLike = Any
_Stream = Any
_Order = Literal["C", "F", "A", "K"]
_Mode = Literal["estimate", "measure", "remeasure", "model"]
_Precision = Literal["operands", "f64", "f32", "tf32", "tf32x3", "bf16", "f16", "i32"]
_Progress = bool | Callable[[float], Any] | None

__version__: str
__all__ = [
    "CacheError",
    "Candidate",
    "CompileError",
    "DeviceError",
    "Error",
    "Finding",
    "InternalError",
    "IoError",
    "Layout",
    "Packed",
    "Plan",
    "PlanError",
    "PlanInfo",
    "Program",
    "ProgramPlan",
    "ShapeError",
    "SpecError",
    "__version__",
    "cache",
    "doctor",
    "einsum",
    "permute",
    "plan_einsum",
    "plan_permute",
    "tensordot",
    "transpose",
]

class Error(Exception): ...
class SpecError(Error, ValueError): ...
class ShapeError(Error, ValueError): ...
class PlanError(Error): ...

class CompileError(Error):
    source: str
    log: str

class DeviceError(Error, RuntimeError): ...
class CacheError(Error): ...
class IoError(Error, OSError): ...
class InternalError(Error): ...

class Layout:
    def __init__(self, shape: Sequence[int], dtype: _DTypeLike = ..., strides: Sequence[int] | None = ...) -> None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...

class PlanInfo:
    @property
    def steps(self) -> int: ...
    @property
    def kernel(self) -> str: ...
    @property
    def schedule(self) -> str: ...
    @property
    def choice(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def plan_ms(self) -> float: ...
    @property
    def generate_ms(self) -> float: ...
    @property
    def compile_ms(self) -> float: ...
    @property
    def load_ms(self) -> float: ...
    @property
    def measure_ms(self) -> float: ...
    @property
    def registers(self) -> int: ...
    @property
    def spill_bytes(self) -> int: ...
    @property
    def shared_bytes(self) -> int: ...
    @property
    def compulsory_bytes(self) -> int: ...
    @property
    def workspace_bytes(self) -> int: ...
    @property
    def packed_bytes(self) -> int: ...
    @property
    def flops(self) -> float: ...

class Candidate:
    @property
    def name(self) -> str: ...
    @property
    def predicted_us(self) -> float: ...
    @property
    def measured_us(self) -> float: ...
    @property
    def step(self) -> int: ...
    @property
    def written(self) -> bool: ...
    @property
    def chosen(self) -> bool: ...

class Packed:
    @property
    def bytes(self) -> int: ...

class Plan:
    @property
    def source(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def cache_path(self) -> str: ...
    @property
    def device(self) -> Literal["cpu", "gpu"]: ...
    @property
    def info(self) -> PlanInfo: ...
    @property
    def output(self) -> Layout: ...
    @property
    def inputs(self) -> list[Layout]: ...
    def __call__(
        self,
        *operands: _Array,
        out: _Array | None = ...,
        alpha: complex | None = ...,
        beta: complex | None = ...,
        stream: _Stream = ...,
        packed: Packed | None = ...,
        progress: _Progress = ...,
    ) -> _Array: ...
    def pack(self, *constants: _Array, stream: _Stream = ...) -> Packed: ...
    def candidates(self) -> list[Candidate]: ...
    def explain(self) -> str: ...
    def passes(self) -> str: ...
    def assembly(self) -> str: ...

class ProgramPlan:
    @property
    def source(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def cache_path(self) -> str: ...
    @property
    def device(self) -> Literal["cpu", "gpu"]: ...
    @property
    def info(self) -> PlanInfo: ...
    @property
    def tensors(self) -> list[Any]: ...
    def candidates(self) -> list[Candidate]: ...
    def explain(self) -> str: ...
    def passes(self) -> str: ...
    def assembly(self) -> str: ...

class Program:
    def __init__(self, text: str) -> None: ...
    @classmethod
    def from_file(cls, path: str) -> Program: ...
    @property
    def text(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def tensors(self) -> list[Any]: ...
    @property
    def params(self) -> list[Any]: ...
    @property
    def open_extents(self) -> list[str]: ...
    def plan(
        self,
        *,
        gpu: int = ...,
        threads: int = ...,
        schedule: str = ...,
        mode: _Mode = ...,
        precision: _Precision = ...,
        workspace_limit: int | None = ...,
        **values: Any,
    ) -> ProgramPlan: ...
    def __call__(self, *, stream: _Stream = ..., progress: _Progress = ..., **values: Any) -> Any: ...

class Finding(tuple[str, str, str]):
    @property
    def subject(self) -> str: ...
    @property
    def state(self) -> Literal["ok", "missing", "broken"]: ...
    @property
    def text(self) -> str: ...

def permute(
    spec: str,
    x: _Array,
    *,
    out: _Array | None = ...,
    order: _Order = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: bool = ...,
    dtype: _DTypeLike | None = ...,
    stream: _Stream = ...,
    addend: _Array | None = ...,
    workspace_limit: int | None = ...,
    progress: _Progress = ...,
) -> _Array: ...
def einsum(
    spec: str,
    *operands: _Array,
    out: _Array | None = ...,
    order: _Order = ...,
    dtype: _DTypeLike | None = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: Sequence[bool] = ...,
    stream: _Stream = ...,
    addend: _Array | None = ...,
    precision: _Precision = ...,
    workspace_limit: int | None = ...,
    progress: _Progress = ...,
) -> _Array: ...
def plan_permute(
    spec: str,
    x: _Array | Layout,
    *,
    out: _Array | Layout | None = ...,
    order: _Order = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: bool = ...,
    dtype: _DTypeLike | None = ...,
    threads: int = ...,
    schedule: str = ...,
    mode: _Mode = ...,
    precision: _Precision = ...,
    workspace_limit: int | None = ...,
    addend: _Array | Layout | None = ...,
) -> Plan: ...
def plan_einsum(
    spec: str,
    *operands: _Array | Layout,
    out: _Array | Layout | None = ...,
    order: _Order = ...,
    dtype: _DTypeLike | None = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: Sequence[bool] = ...,
    threads: int = ...,
    schedule: str = ...,
    mode: _Mode = ...,
    precision: _Precision = ...,
    workspace_limit: int | None = ...,
    addend: _Array | Layout | None = ...,
    constant: Sequence[bool] = ...,
) -> Plan: ...
def doctor() -> list[Finding]: ...
def tensordot(a: _Array, b: _Array, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = ...) -> _Array: ...
def transpose(a: _Array, axes: Sequence[int] | None = ...) -> _Array: ...

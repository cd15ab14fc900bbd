# Types of the package. Array: an object that offers DLPack, a buffer or __cuda_array_interface__; numbers and nested
# sequences of them become NumPy arrays.
from collections.abc import Sequence
from typing import Any, Literal

from . import cache as cache

Array = Any
DTypeLike = Any
Stream = Any
Order = Literal["C", "F", "A", "K"]
Mode = Literal["estimate", "measure", "remeasure", "model"]
Precision = Literal["f32", "tf32", "tf32x3"]

__version__: str
__all__: list[str]

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
    def __init__(self, shape: Sequence[int], dtype: DTypeLike = ..., strides: Sequence[int] | None = ...) -> None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...

class PlanInfo:
    steps: int
    kernel: str
    schedule: str
    choice: str
    origin: str
    plan_ms: float
    generate_ms: float
    compile_ms: float
    load_ms: float
    measure_ms: float
    registers: int
    spill_bytes: int
    shared_bytes: int
    compulsory_bytes: int
    workspace_bytes: int
    packed_bytes: int
    flops: float

class Candidate:
    name: str
    predicted_us: float
    measured_us: float
    step: int
    written: bool
    chosen: bool

class Packed:
    @property
    def bytes(self) -> int: ...

class Plan:
    source: str
    program: str
    key: str
    cache_path: str
    device: Literal["cpu", "gpu"]
    info: PlanInfo
    output: Layout
    inputs: list[Layout]
    def __call__(
        self,
        *operands: Array,
        out: Array | None = ...,
        alpha: complex | None = ...,
        beta: complex | None = ...,
        stream: Stream = ...,
        packed: Packed | None = ...,
    ) -> Array: ...
    def pack(self, *constants: Array, stream: Stream = ...) -> Packed: ...
    def candidates(self) -> list[Candidate]: ...
    def explain(self) -> str: ...
    def passes(self) -> str: ...
    def assembly(self) -> str: ...

class ProgramPlan:
    source: str
    program: str
    key: str
    cache_path: str
    device: Literal["cpu", "gpu"]
    info: PlanInfo
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
        mode: Mode = ...,
        precision: Precision = ...,
        workspace_limit: int | None = ...,
        **values: Any,
    ) -> ProgramPlan: ...
    def __call__(self, *, stream: Stream = ..., **values: Any) -> Any: ...

class Finding(tuple[str, str, str]):
    @property
    def subject(self) -> str: ...
    @property
    def state(self) -> Literal["ok", "missing", "broken"]: ...
    @property
    def text(self) -> str: ...

def permute(
    spec: str,
    x: Array,
    *,
    out: Array | None = ...,
    order: Order = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: bool = ...,
    dtype: DTypeLike | None = ...,
    stream: Stream = ...,
    addend: Array | None = ...,
) -> Array: ...
def einsum(
    spec: str,
    *operands: Array,
    out: Array | None = ...,
    order: Order = ...,
    dtype: DTypeLike | None = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: Sequence[bool] = ...,
    stream: Stream = ...,
    addend: Array | None = ...,
) -> Array: ...
def plan_permute(
    spec: str,
    x: Array | Layout,
    *,
    out: Array | Layout | None = ...,
    order: Order = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: bool = ...,
    dtype: DTypeLike | None = ...,
    threads: int = ...,
    schedule: str = ...,
    mode: Mode = ...,
    precision: Precision = ...,
    workspace_limit: int | None = ...,
    addend: Array | Layout | None = ...,
) -> Plan: ...
def plan_einsum(
    spec: str,
    *operands: Array | Layout,
    out: Array | Layout | None = ...,
    order: Order = ...,
    dtype: DTypeLike | None = ...,
    alpha: complex = ...,
    beta: complex = ...,
    conj: Sequence[bool] = ...,
    threads: int = ...,
    schedule: str = ...,
    mode: Mode = ...,
    precision: Precision = ...,
    workspace_limit: int | None = ...,
    addend: Array | Layout | None = ...,
    constant: Sequence[bool] = ...,
) -> Plan: ...
def doctor() -> list[Finding]: ...
def tensordot(a: Array, b: Array, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = ...) -> Array: ...
def transpose(a: Array, axes: Sequence[int] | None = ...) -> Array: ...

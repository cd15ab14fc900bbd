"""Tensor index notation to kernels at run time.

    import numpy, ricci
    a, b = numpy.random.rand(64, 32), numpy.random.rand(32, 16)
    c = ricci.einsum("ab,bc->ca", a, b)        # NumPy, PyTorch, CuPy and JAX arrays; the result is of the first's kind
    plan = ricci.plan_einsum("ab,bc->ca", a, b)
    plan(a, b, out=c)                          # nothing is looked up; print(plan.source)

Every function may be called from any number of threads at once; plans are immutable. The interpreter is free for other
threads while kernels are planned, compiled and run. On a GPU a call works on the package's current stream, or on
stream=, and returns at once.
"""
from . import cache
from ._errors import (
    CacheError,
    CompileError,
    DeviceError,
    Error,
    InternalError,
    IoError,
    PlanError,
    ShapeError,
    SpecError,
)
from ._numpy_names import tensordot, transpose
from ._program import Program
from ._ricci import (
    Candidate,
    Layout,
    Packed,
    Plan,
    PlanInfo,
    ProgramPlan,
    __version__,
    einsum,
    permute,
    plan_einsum,
    plan_permute,
)
from ._ricci import doctor as _doctor


class Finding(tuple):
    """One thing that this process needs: (subject, state, text). The state is "ok", "missing" or "broken"."""

    __slots__ = ()
    subject = property(lambda self: self[0], doc='"clang", "nvrtc", "driver", "device 0", "cpu", "cache"')
    state = property(lambda self: self[1])
    text = property(lambda self: self[2])

    def __str__(self):
        return f"{self.state:8}{self.subject:10} {self.text}"


def doctor():
    """The compilers, driver, devices, processor and cache that this process finds, by trying them."""
    return [Finding(line) for line in _doctor()]


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

"""What differs between packages of arrays: how a new array is made, and which stream is current.

No package is imported unless an array of it came in, or NumPy has to make the result.
"""
import functools
import math


def _package(array):
    return type(array).__module__.partition(".")[0]


def _numpy_dtype(name):
    import numpy

    if name != "bfloat16":
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("NumPy has no bfloat16 without the package ml_dtypes; choose another dtype=") from None
    return numpy.dtype(ml_dtypes.bfloat16)


_LINE = 64  # bytes of a cache line: kernels write large results by whole ones, past the caches
_LARGE = 1 << 20  # bytes from which on they do


def _empty(shape, dtype):
    """numpy.empty, of which large arrays begin at cache lines: NumPy's own begin 16 bytes behind one."""
    import numpy

    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE:
        return numpy.empty(shape, dtype)
    room = numpy.empty(size + _LINE, numpy.uint8)
    first = -room.__array_interface__["data"][0] % _LINE
    return room[first : first + size].view(dtype).reshape(shape)


def maker(like, dtype, on_gpu):
    """How the package of `like` makes arrays of a type on its device: (make(shape), transpose(array, axes), finish).

    `finish` turns what was written to into what the caller gets; None where they are the same.
    """
    package = _package(like)
    if package == "torch":
        import torch

        return functools.partial(torch.empty, dtype=getattr(torch, dtype), device=like.device), torch.permute, None
    if package == "cupy":
        import cupy

        device = like.device

        def make(shape):
            with device:
                return cupy.empty(shape, dtype)

        return make, cupy.transpose, None
    if on_gpu:
        raise TypeError(f"Ricci cannot allocate arrays of {type(like).__module__} on a GPU; give the result, out=")
    finish = None
    if package in ("jax", "jaxlib"):
        import jax.numpy

        finish = jax.numpy.asarray
    import numpy

    return functools.partial(_empty, dtype=_numpy_dtype(dtype)), numpy.transpose, finish


def current_stream(array):
    """Address of the stream on which the package of an array on a GPU works; 0, the default one, where it has no word."""
    package = _package(array)
    if package == "torch":
        import torch

        return torch.cuda.current_stream(array.device).cuda_stream
    if package == "cupy":
        import cupy

        with array.device:
            return cupy.cuda.get_current_stream().ptr
    return 0


def device_ordinal(array):
    """The GPU of an array that offers `__cuda_array_interface__` alone; 0 where it does not say."""
    device = getattr(array, "device", None)
    for owner in (device, getattr(array, "context", None), getattr(getattr(array, "context", None), "device", None)):
        if isinstance(getattr(owner, "id", None), int):
            return owner.id
    return 0

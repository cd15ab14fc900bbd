"""What differs between packages of arrays: how a new array is made, and which stream is current.

No package is imported unless an array of it came in, or NumPy has to make the result.
"""
import functools


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
    import numpy

    finish = None
    if package in ("jax", "jaxlib"):
        import jax.numpy

        finish = jax.numpy.asarray
    return functools.partial(numpy.empty, dtype=_numpy_dtype(dtype)), numpy.transpose, finish


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

"""Einsums inside programs of JAX: under jit, with gradients, on CPUs and GPUs, by XLA's foreign function interface.

    import ricci.jax
    y = jax.jit(lambda x, w: ricci.jax.einsum("ab,bc->ac", x, w))(x, w)
"""
import functools

import jax
import jax.numpy as jnp

from . import _ricci
from ._gradients import Gradient, extents_of

for _platform, _handler in _ricci._xla_handlers().items():
    jax.ffi.register_ffi_target("ricci_einsum", _handler, platform=_platform)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _einsum(spec, *operands):
    terms, output = _ricci._terms(spec, [operand.ndim for operand in operands])
    extents = extents_of(terms, [operand.shape for operand in operands])
    types = [str(operand.dtype) for operand in operands]
    dtype = jax.dtypes.canonicalize_dtype(_ricci._product_dtype(types))
    result = jax.ShapeDtypeStruct([extents[name] for name in output], dtype)
    if jax.default_backend() == "cpu":
        _ricci._xla_plan(spec, [*[operand.shape for operand in operands], result.shape], [*types, str(dtype)])
    return jax.ffi.ffi_call("ricci_einsum", result, vmap_method="sequential")(*operands, spec=spec)


def einsum(spec, *operands):
    """The sum of products of the operands' elements, of the type that holds every operand's values."""
    return _einsum(spec, *[jnp.asarray(operand) for operand in operands])


def _forward(spec, *operands):
    return _einsum(spec, *operands), operands


def _gradient(gradient, output, terms, operands, which):
    operand = operands[which]
    how = Gradient(terms, output, which, [x.shape for x in operands])
    factors = [jnp.broadcast_to(jnp.conj(operands[k]), shape) for k, shape in zip(how.others, how.factors)]
    # What JAX calls the gradient is the conjugate of what it hands on.
    made = jnp.conj(_einsum(how.spec, jnp.conj(gradient), *factors))
    if jnp.iscomplexobj(made) and not jnp.iscomplexobj(operand):
        made = made.real
    made = jnp.broadcast_to(jnp.expand_dims(made, how.missing), how.shape).astype(operand.dtype)
    if not how.is_diagonal:
        return made
    places = jnp.meshgrid(*[jnp.arange(extent) for extent in how.shape], indexing="ij")
    return jnp.zeros_like(operand).at[tuple(places[k] for k in how.places)].set(made)


def _backward(spec, operands, gradient):
    terms, output = _ricci._terms(spec, [operand.ndim for operand in operands])
    return tuple(_gradient(gradient, output, terms, operands, k) for k in range(len(operands)))


_einsum.defvjp(_forward, _backward)

__all__ = ["einsum"]

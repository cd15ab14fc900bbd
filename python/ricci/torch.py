"""Einsums as an operator of PyTorch: differentiable, any number of times, and known to torch.compile.

    import ricci.torch
    y = ricci.torch.einsum("ab,bc->ac", x, w)
    y.sum().backward()
"""
from collections.abc import Sequence

import torch

from . import _ricci
from ._gradients import Gradient, extents_of


@torch.library.custom_op("ricci::einsum", mutates_args=())
def _einsum(spec: str, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    # Gradients are recorded around this operator, not in it.
    return _ricci.einsum(spec, *[operand.detach() for operand in operands], order="C")


def einsum(spec, *operands):
    """The sum of products of the operands' elements, row-major, of the type that holds every operand's values."""
    return _einsum(spec, operands)


@_einsum.register_fake
def _(spec, operands):
    terms, output = _ricci._terms(spec, [operand.dim() for operand in operands])
    extents = extents_of(terms, [operand.shape for operand in operands])
    dtype = _ricci._product_dtype([str(operand.dtype) for operand in operands])
    return operands[0].new_empty([extents[name] for name in output], dtype=getattr(torch, dtype))


def _keep(ctx, inputs, output):
    ctx.spec, operands = inputs
    ctx.save_for_backward(*operands)


def _gradient(gradient, output, terms, operands, which):
    operand = operands[which]
    how = Gradient(terms, output, which, [x.shape for x in operands])
    factors = [operands[k].conj().resolve_conj().expand(shape) for k, shape in zip(how.others, how.factors)]
    made = einsum(how.spec, gradient, *factors)
    if made.is_complex() and not operand.is_complex():
        made = made.real
    for place in how.missing:
        made = made.unsqueeze(place)
    made = made.expand(how.shape)
    if not how.is_diagonal:
        return made.to(operand.dtype).contiguous()
    # A diagonal was read: the gradient is 0 beside it.
    whole = torch.zeros(operand.shape, dtype=operand.dtype, device=operand.device)
    strides = [0] * len(how.axes)
    for axis, place in enumerate(how.places):
        strides[place] += whole.stride(axis)
    whole.as_strided(how.shape, strides).copy_(made)
    return whole


def _backward(ctx, gradient):
    operands = ctx.saved_tensors
    terms, output = _ricci._terms(ctx.spec, [operand.dim() for operand in operands])
    return None, [
        _gradient(gradient, output, terms, operands, k) if operand.requires_grad else None
        for k, operand in enumerate(operands)
    ]


_einsum.register_autograd(_backward, setup_context=_keep)

__all__ = ["einsum"]

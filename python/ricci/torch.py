"""Einsums as an operator of PyTorch: differentiable, any number of times, and known to torch.compile.

    import ricci.torch
    y = ricci.torch.einsum("ab,bc->ac", x, w)
    y.sum().backward()
"""
from collections.abc import Sequence

import torch

from . import _ricci


@torch.library.custom_op("ricci::einsum", mutates_args=())
def _einsum(spec: str, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    # Gradients are recorded around this operator, not in it.
    return _ricci.einsum(spec, *[operand.detach() for operand in operands], order="C")


def einsum(spec, *operands):
    """The sum of products of the operands' elements, row-major, of the type that holds every operand's values."""
    return _einsum(spec, operands)


def _extents(terms, operands):
    """The extent of each axis; those of an ellipsis may be 1 in some operands."""
    extents = {}
    for term, operand in zip(terms, operands):
        for name, extent in zip(term, operand.shape):
            if name not in extents or extents[name] == 1:
                extents[name] = extent
    return extents


def _joined(terms, output):
    """A spec of renamed axes, so that those of an ellipsis are written out like the others."""
    names = {name: f"x{k}" for k, name in enumerate(dict.fromkeys(name for term in terms for name in term))}
    if all(len(term) < 2 for term in terms):
        # Only where a term holds two words are words names; single letters otherwise.
        names = {name: chr(ord("a") + k) for k, name in enumerate(names)}
    return ",".join(" ".join(names[name] for name in term) for term in terms) + "->" + " ".join(names[name] for name in output)


@_einsum.register_fake
def _(spec, operands):
    terms, output = _ricci._terms(spec, [operand.dim() for operand in operands])
    extents = _extents(terms, operands)
    dtype = _ricci._product_dtype([str(operand.dtype) for operand in operands])
    return operands[0].new_empty([extents[name] for name in output], dtype=getattr(torch, dtype))


def _keep(ctx, inputs, output):
    ctx.spec, operands = inputs
    ctx.save_for_backward(*operands)


def _gradient(gradient, output, terms, operands, which, extents):
    """Of one operand: the sum of the result's gradient with the other operands over all axes that it does not have."""
    term, operand = terms[which], operands[which]
    others = [k for k in range(len(terms)) if k != which]
    known = set(output).union(*[terms[k] for k in others])
    unique = list(dict.fromkeys(term))
    extent = dict(zip(term, operand.shape))
    # An axis that this operand has with extent 1, broadcast over the others, is summed over.
    found = [name for name in unique if name in known and not (extent[name] == 1 and extents[name] != 1)]
    factors = [operands[k].conj().resolve_conj().expand([extents[name] for name in terms[k]]) for k in others]
    spec = _joined([output, *[terms[k] for k in others]], found)
    made = einsum(spec, gradient, *factors)
    if made.is_complex() and not operand.is_complex():
        made = made.real
    for place, name in enumerate(unique):
        if name not in found:
            made = made.unsqueeze(place)
    made = made.expand([extent[name] for name in unique])
    if len(unique) == len(term):
        return made.to(operand.dtype).contiguous()
    # A diagonal was read: the gradient is 0 beside it.
    whole = torch.zeros(operand.shape, dtype=operand.dtype, device=operand.device)
    strides = [sum(whole.stride(k) for k, other in enumerate(term) if other == name) for name in unique]
    whole.as_strided([extent[name] for name in unique], strides).copy_(made)
    return whole


def _backward(ctx, gradient):
    operands = ctx.saved_tensors
    terms, output = _ricci._terms(ctx.spec, [operand.dim() for operand in operands])
    extents = _extents(terms, operands)
    return None, [
        _gradient(gradient, output, terms, operands, k, extents) if operand.requires_grad else None
        for k, operand in enumerate(operands)
    ]


_einsum.register_autograd(_backward, setup_context=_keep)

__all__ = ["einsum"]

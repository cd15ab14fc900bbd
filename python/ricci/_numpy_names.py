"""`tensordot` and `transpose` as NumPy has them: what opt_einsum and cotengra want of a backend beside `einsum`."""
import functools
import operator

from ._ricci import einsum, permute

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _axis(axis, rank, what):
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} of {what}, which has {rank} axes")
    return axis % rank


def _term(names, several):
    return (" " if several else "").join(names)


@functools.lru_cache(maxsize=4096)
def _tensordot_spec(a_rank, b_rank, a_axes, b_axes):
    a_axes = [_axis(axis, a_rank, "a") for axis in a_axes]
    b_axes = [_axis(axis, b_rank, "b") for axis in b_axes]
    if len(a_axes) != len(b_axes) or len(set(a_axes)) != len(a_axes) or len(set(b_axes)) != len(b_axes):
        raise ValueError(f"axes {a_axes} of a and {b_axes} of b are no pairs")
    count = a_rank + b_rank
    several = count > len(_LETTERS)
    names = [f"x{k}" for k in range(count)] if several else _LETTERS
    a, b = list(names[:a_rank]), list(names[a_rank:count])
    for k, j in zip(a_axes, b_axes):
        b[j] = a[k]
    kept = [name for k, name in enumerate(a) if k not in a_axes] + [name for j, name in enumerate(b) if j not in b_axes]
    return f"{_term(a, several)},{_term(b, several)}->{_term(kept, several)}"


def tensordot(a, b, axes=2):
    """Sums products over pairs of axes, as numpy.tensordot: a number of them, or the axes of a and those of b."""
    a_rank, b_rank = len(a.shape), len(b.shape)
    if hasattr(axes, "__index__"):
        count = operator.index(axes)
        if not 0 <= count <= min(a_rank, b_rank):
            raise ValueError(f"axes={count} of arrays with {a_rank} and {b_rank} axes")
        axes = range(a_rank - count, a_rank), range(count)
    pairs = [(one,) if hasattr(one, "__index__") else tuple(one) for one in axes]
    return einsum(_tensordot_spec(a_rank, b_rank, *pairs), a, b, order="C")


@functools.lru_cache(maxsize=4096)
def _transpose_spec(rank, axes):
    axes = [_axis(axis, rank, "a") for axis in axes]
    if sorted(axes) != list(range(rank)):
        raise ValueError(f"axes {axes} are no permutation of {rank}")
    return f"{_LETTERS[:rank]}->{''.join(_LETTERS[axis] for axis in axes)}"


def transpose(a, axes=None):
    """A new array with its axes in another order, reversed by default; numpy.transpose gives a view."""
    rank = len(a.shape)
    return permute(_transpose_spec(rank, tuple(range(rank))[::-1] if axes is None else tuple(axes)), a)

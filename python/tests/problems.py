"""Random einsums on NumPy arrays of every kind, and the bound within which results agree."""
import os

import numpy as np

FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

SEED = int(os.environ.get("RICCI_FUZZ_SEED", "20260"))
CASES = int(os.environ.get("RICCI_FUZZ_CASES", "100"))


def values(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, 100, shape), dtype)
    if dtype.kind == "c":
        return np.asarray(rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape), dtype)
    return np.asarray(rng.uniform(-1, 1, shape), dtype)


def view(rng, shape, dtype):
    """An array of that shape: dense, permuted in memory, with steps, backwards, broadcast, read-only."""
    kind = rng.integers(6)
    if kind == 1 and shape:
        order = rng.permutation(len(shape))
        return values(rng, [shape[k] for k in order], dtype).transpose(np.argsort(order))
    if kind == 2:
        steps = rng.integers(1, 3, len(shape))
        return values(rng, [n * s for n, s in zip(shape, steps)], dtype)[tuple(slice(None, None, s) for s in steps)]
    if kind == 3:
        return values(rng, shape, dtype)[tuple(slice(None, None, -1) if rng.integers(2) else slice(None) for _ in shape)]
    if kind == 4 and shape:
        axis = rng.integers(len(shape))
        return np.broadcast_to(values(rng, [1 if k == axis else n for k, n in enumerate(shape)], dtype), shape)
    array = values(rng, shape, dtype)[...]
    array.flags.writeable = kind != 5
    return array


class Problem:
    """One random einsum: spec, operands, and whether an output array of which kind is given."""

    def __init__(self, rng):
        extents = {name: int(rng.choice([0, 1, 2, 3, 4, 5, 7], p=[0.02, 0.1, 0.2, 0.2, 0.2, 0.2, 0.08])) for name in "abcdef"}
        kinds = INTEGERS if rng.integers(4) == 0 else FLOATS
        count = int(rng.integers(1, 4))
        dtype = rng.choice(kinds)
        terms = ["".join(rng.choice(list("abcdef"), rng.integers(0, 4), replace=bool(rng.integers(5) == 0))) for _ in range(count)]
        used = sorted(set("".join(terms)))
        kept = rng.permutation([name for name in used if rng.integers(2)]) if used else []
        self.spec = ",".join(terms) + "->" + "".join(kept)
        self.operands = []
        for term in terms:
            own = rng.choice(FLOATS) if kinds is FLOATS and rng.integers(4) == 0 else dtype
            self.operands.append(view(rng, [extents[name] for name in term], own))
        self.shape = [extents[name] for name in kept]
        self.order = str(rng.choice(list("CFAK")))
        self.out = rng.integers(3) == 0

    def __str__(self):
        shapes = ", ".join(f"{x.dtype}{x.shape} strides {x.strides}" for x in self.operands)
        return f"{self.spec} on {shapes}, order {self.order}, out {self.out} (RICCI_FUZZ_SEED={SEED})"


def expected(spec, operands, dtype):
    """The result in wide types, and the bound on its error: of the sum in the type of the products, and of rounding it."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return np.einsum(spec, *[x.astype(dtype) for x in operands]), 0
    wide = [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in operands]
    exact = np.einsum(spec, *wide)
    size = np.einsum(spec, *[np.abs(x) for x in wide])
    terms = max(1, np.prod([n for x in operands for n in x.shape], dtype=float) / max(1, exact.size))
    compute = np.finfo(np.float32 if dtype == np.float16 else dtype).eps
    return exact, np.finfo(dtype).eps * size + compute * (terms + 8) * size + np.finfo(dtype).tiny

#!/usr/bin/env python3
"""The interpreter against NumPy: einsum, reductions, scans and compactions of random tensors.

usage: numpy_oracle.py RUN_NUMPY_ORACLE [COUNT]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
         "c64": np.complex64, "c128": np.complex128}
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "c64": 2.0**-23, "f64": 2.0**-52, "c128": 2.0**-52}
LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "c64": 3.4028234663852886e38}
TINY = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "c64": 2.0**-149, "f64": 0.0, "c128": 0.0}


def is_integer(name):
    return name[0] in "iu"


def array(data, tensor):
    """A tensor as an array of its own; bf16 as f32."""
    half = tensor["type"] == "bf16"
    kind = np.dtype(np.uint16 if half else TYPES[tensor["type"]])
    memory = data[tensor["begin"]:tensor["begin"] + tensor["bytes"]]
    if 0 in tensor["extents"]:
        values = np.zeros(tensor["extents"], kind)
    else:
        view = np.ndarray(tensor["extents"], kind, memory, tensor["origin"],
                          [stride * kind.itemsize for stride in tensor["strides"]])
        values = view.copy()
    return (values.astype(np.uint32) << 16).view(np.float32) if half else values


def wide(values, as_float=False):
    """In the widest type of its kind."""
    if values.dtype.kind in "iu" and not as_float:
        return values.astype(np.uint64)  # arithmetic modulo 2^64, which ends in any smaller modulus
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def number(pair):
    return complex(float.fromhex(pair[0]), float.fromhex(pair[1]))


def magnitude(values):
    return np.abs(values.real) + np.abs(values.imag)


def einsum(case, inputs, old):
    """The result and what bounds its error, None for integers."""
    alpha, beta = number(case["alpha"]), number(case["beta"])
    names = [t["type"] for t in case["inputs"]] + [case["old"]["type"], case["result"]["type"]]
    as_float = not is_integer(names[-1])
    operands = [np.conj(wide(x, as_float)) if c else wide(x, as_float) for x, c in zip(inputs, case["conjugate"])]
    if is_integer(names[-1]):
        def factor(value):
            return np.uint64(int(value.real) % 2**64)
        total = np.einsum(case["spec"], *operands) * factor(alpha)
        return total + wide(old) * factor(beta), None
    old = wide(old, as_float)
    if case["conjugate_old"]:
        old = np.conj(old)
    total = np.zeros(old.shape, np.complex128)
    size = np.zeros(old.shape)
    if alpha != 0:  # a factor 0 hides whatever there is
        total = total + alpha * np.einsum(case["spec"], *operands)
        size = size + magnitude(np.array(alpha)) * np.einsum(case["spec"], *[magnitude(x) for x in operands])
    if beta != 0:
        total = total + beta * old
        size = size + magnitude(np.array(beta)) * magnitude(old)
    points = 1
    for count in {name: n for x, t in zip(operands, case["spec"].split("->")[0].split(","))
                  for name, n in zip(t.replace("...", ""), x.shape)}.values():
        points *= max(count, 1)
    narrow = any(EPSILON[name] > 2.0**-52 for name in names if not is_integer(name))
    return total, (points + 16) * (2.0**-23 if narrow else 2.0**-52) * size


def one_tensor(case, x, old):
    operation = getattr(np, case["operation"])
    kind = x.dtype
    over = tuple(case["over"])
    if case["kind"] == "compaction":
        result = old.copy()
        rows, places = np.moveaxis(result, over[0], -1), np.moveaxis(x, over[0], -1)
        for where in np.ndindex(places.shape[:-1]):
            kept = places[where][places[where] > 0]
            rows[where][:len(kept)] = kept
        return result, 0.0
    if case["operation"] in ("minimum", "maximum"):
        low, high = (-np.inf, np.inf) if kind.kind == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
        start = high if case["operation"] == "minimum" else low
    else:
        start = {"multiply": 1, "bitwise_and": -1}.get(case["operation"], 0)
    start = np.array(start).astype(kind)
    values = np.where(x > 0, x, start) if case["guarded"] else x
    with np.errstate(all="ignore"):
        if case["kind"] == "reduction":
            result = operation.reduce(values, axis=over, dtype=kind, keepdims=True, initial=start)
        else:
            result = operation.accumulate(values, axis=over[0], dtype=kind)
            if case["exclusive"]:
                shape = list(x.shape)
                shape[over[0]] = 1
                result = np.concatenate([np.full(shape, start), result], axis=over[0])
        if kind.kind in "iu" or case["operation"] in ("minimum", "maximum"):
            return result, 0.0
        # NumPy sums by pairs; each product is within an epsilon of its own.
        terms = x.size + 2
        if case["operation"] == "multiply":
            return result, 4 * terms * EPSILON[case["result"]["type"]] * magnitude(result)
        size = magnitude(values)
        if case["kind"] == "reduction":
            size = np.add.reduce(size, axis=over, keepdims=True)
        else:
            size = np.add.accumulate(size, axis=over[0])
            if case["exclusive"]:
                size = np.concatenate([np.zeros(shape, size.dtype), size], axis=over[0])
        return result, 4 * terms * EPSILON[case["result"]["type"]] * size


def difference(case, want, bound, got):
    """Nothing where all elements are as wanted, else the first that is not."""
    name = case["result"]["type"]
    if is_integer(name):
        want = want.astype(TYPES[name])
        wrong = want != got
    else:
        want = np.broadcast_to(wide(np.asarray(want)), got.shape)
        have = wide(got)
        limit = bound + 2 * EPSILON[name] * magnitude(want) + 2 * TINY[name]
        wrong = np.zeros(got.shape, bool)
        for w, h in ((want.real, have.real), (want.imag, have.imag)):
            with np.errstate(invalid="ignore"):
                near = np.abs(w - h) <= limit
            same = (w == h) | (np.isnan(w) & np.isnan(h))
            too_large = np.isinf(h) & (np.abs(w) + limit >= LARGEST.get(name, np.inf)) & (np.sign(w) == np.sign(h))
            wrong |= ~(near | same | too_large)
    if not wrong.any():
        return None
    where = tuple(np.argwhere(wrong)[0])
    return f"element {tuple(map(int, where))} is {got[where]}, NumPy has {want[where]}"


def main():
    helper, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([helper, str(count), folder], check=True)
        cases = json.loads((pathlib.Path(folder) / "cases.json").read_text())
        types = [line.split() for line in (pathlib.Path(folder) / "types.txt").read_text().splitlines()]
        data = (pathlib.Path(folder) / "data.bin").read_bytes()
    failures, elements, kinds = 0, 0, {}
    for case in cases:
        inputs = [array(data, tensor) for tensor in case["inputs"]]
        old, got = array(data, case["old"]), array(data, case["result"])
        with np.errstate(all="ignore"):
            want, bound = einsum(case, inputs, old) if case["kind"] == "einsum" else one_tensor(case, inputs[0], old)
        kinds[case["kind"]] = kinds.get(case["kind"], 0) + 1
        elements += got.size
        message = difference(case, want, bound, got)
        if message:
            failures += 1
            words = {key: value for key, value in case.items() if key not in ("old", "result")}
            print(f"{message}\n  {words}")
    # NumPy knows no bf16: the helper leaves it out.
    wrong = [line for line in types if np.result_type(*(TYPES[name] for name in line[:-1])) != np.dtype(TYPES[line[-1]])]
    for *operands, result in wrong[:10]:
        print(f"{' and '.join(operands)} meet in {result}, NumPy says otherwise")
    print(f"{len(types)} pairs and triples of types: {len(wrong)} differ")
    print(f"{len(cases)} programs ({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}), "
          f"{elements} elements: {failures} differ")
    return 1 if failures or wrong or len(types) != 13**2 + 13**3 or len(cases) != count else 0


if __name__ == "__main__":
    sys.exit(main())

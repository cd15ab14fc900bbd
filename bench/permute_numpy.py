#!/usr/bin/env python3
"""Times NumPy's copy of a transposed view on the cases of a set, for `ricci-bench permute --peers`.

usage: bench/permute_numpy.py CASES.csv OUT.csv [--dtype float64] [--repeat 3]
"""
import argparse
import csv
import time

import numpy


def measure(dims, perm, dtype, repeat):
    """Median milliseconds of one copy. Dimensions and permutation with the fastest axis first, as the sets have them."""
    rank = len(dims)
    array = numpy.ones(dims[::-1], dtype)
    view = array.transpose([rank - 1 - perm[rank - 1 - k] for k in range(rank)])
    result = numpy.zeros(view.shape, dtype)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        numpy.copyto(result, view)
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("out")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with open(options.cases, encoding="utf-8") as file:
        cases = list(csv.DictReader(file))
    with open(options.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "numpy_ms"])
        for case in cases:
            dims = [int(n) for n in case["dims"].replace("x", " ").split()]
            perm = [int(n) for n in case["perm"].replace(",", " ").split()]
            writer.writerow([case["id"], f"{measure(dims, perm, options.dtype, options.repeat):.3f}"])


if __name__ == "__main__":
    main()

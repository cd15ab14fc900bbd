#!/usr/bin/env python3
"""Times NumPy's einsum without optimisation on the cases of a set, for `ricci-bench einsum --peers`.

usage: bench/einsum_numpy.py CASES.csv OUT.csv [--dtype float64] [--limit SECONDS]

A case that is not done after --limit seconds (default 20) is measured on a part: one index that the output has is cut
short so that the part takes about that long, and the time is scaled by the ratio of the extents.
"""
import argparse
import csv
import sys
import time

import numpy


def run(spec, extents, dtype):
    """Seconds of one call on fresh arrays, the better of two where that is quick."""
    inputs, output = spec.split("->")
    arrays = [numpy.ones([extents[axis] for axis in term], dtype) for term in inputs.split(",")]
    result = numpy.zeros([extents[axis] for axis in output], dtype)
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        numpy.einsum(spec, *arrays, out=result, optimize=False)
        best = min(best, time.perf_counter() - start)
        if best > 2:
            break
    return best


def measure(spec, extents, dtype, limit):
    flops = 2.0
    for extent in extents.values():
        flops *= extent
    part = dict(extents)
    # About 1e9 operations a second at worst; a part that is too slow still ends.
    axis = max(spec.split("->")[1], key=lambda name: extents[name])
    expected = flops / 1e9
    if expected > limit:
        part[axis] = max(1, int(extents[axis] * limit / expected))
    return run(spec, part, dtype) * extents[axis] / part[axis], part[axis] / extents[axis]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("out")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--limit", type=float, default=20)
    options = parser.parse_args()
    with open(options.cases, encoding="utf-8") as file:
        cases = list(csv.DictReader(file))
    with open(options.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "numpy_loops_ms"])
        for number, case in enumerate(cases, 1):
            extents = {name: int(extent) for name, extent in (word.split("=") for word in case["extents"].split())}
            seconds, part = measure(case["spec"], extents, options.dtype, options.limit)
            writer.writerow([case["id"], f"{1e3 * seconds:.3f}"])
            file.flush()
            print(f"{number}/{len(cases)} {case['id']:<20} {1e3 * seconds:10.1f} ms (measured on {part:.3f} of it)", file=sys.stderr)


if __name__ == "__main__":
    main()

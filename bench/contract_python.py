#!/usr/bin/env python3
"""Times NumPy's einsum by BLAS and torch.einsum on the contractions of a set, for `ricci-bench contract --peers`.

usage: bench/contract_python.py CASES.csv OUT.csv [--dtype float64] [--threads 2] [--most-gflop N] [--every N] [--gpu]

--most-gflop and --every make the same cases of a set as they do there. Results are dense in the order that the case
asks for, as Ricci writes them: what a library returns as a view of another order is copied. The least time of several
calls after a first one; start with OMP_NUM_THREADS set as --threads says, as NumPy's BLAS reads that alone. With --gpu
torch.einsum alone, on the first GPU: the median of seven calls after two, by events, behind a kernel that keeps it busy.
"""
import argparse
import csv
import math
import statistics
import sys
import time

import numpy
import torch


def shrunk(extents, most_flops):
    """All extents smaller by one factor, until the case has no more operations than that."""
    by = (most_flops / 2 / math.prod(extents.values())) ** (1 / len(extents))
    return {axis: max(1, int(extent * by)) for axis, extent in extents.items()} if by < 1 else extents


def fastest(call):
    """Milliseconds of the fastest of three calls after a first one, of more where they are short."""
    call()
    times = []
    while len(times) < 3 or (sum(times) < 0.1 and len(times) < 50):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def measure(spec, extents, dtype):
    terms, output = spec.split("->")
    random = numpy.random.default_rng(1)
    arrays = [random.random([extents[axis] for axis in term]).astype(dtype) for term in terms.split(",")]
    result = numpy.empty([extents[axis] for axis in output], dtype)
    tensors, to = [torch.from_numpy(array) for array in arrays], torch.from_numpy(result)
    return (
        fastest(lambda: numpy.einsum(spec, *arrays, out=result, optimize=True)),
        fastest(lambda: to.copy_(torch.einsum(spec, *tensors))),
    )


def measure_gpu(spec, extents, dtype):
    terms = spec.split("->")[0]
    kind = getattr(torch, dtype)
    tensors = [torch.randn([extents[axis] for axis in term], dtype=kind, device="cuda") for term in terms.split(",")]
    busy = torch.empty(64 << 20, dtype=torch.float32, device="cuda")
    times = []
    for call in range(9):
        for _ in range(3):
            busy.fill_(0)  # longer than the host takes to ask for the rest, and larger than the second cache
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        torch.einsum(spec, *tensors).contiguous()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return (statistics.median(times[2:]),)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("out")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most-gflop", type=float, default=math.inf)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with open(options.cases, encoding="utf-8") as file:
        cases = list(csv.DictReader(file))[:: options.every]
    with open(options.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *([] if options.gpu else ["numpy_ms"]), "torch_ms"])
        timed = measure_gpu if options.gpu else measure
        for case in cases:
            extents = {name: int(extent) for name, extent in (word.split("=") for word in case["extents"].split())}
            times = timed(case["spec"], shrunk(extents, 1e9 * options.most_gflop), options.dtype)
            writer.writerow([case["id"], *(f"{ms:.4f}" for ms in times)])
            file.flush()
            print(case["id"], *(f"{ms:10.3f} ms" for ms in times), file=sys.stderr)


if __name__ == "__main__":
    main()

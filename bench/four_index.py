#!/usr/bin/env python3
"""Times the four-index transformation of water's integrals by the command line, by NumPy's einsum and by torch.einsum.

usage: bench/four_index.py RICCI [--threads 2] [--repeat 30] [--json FILE] [--commit HASH]

RICCI is the command line, such as build/release/bin/ricci. It transforms examples/data/h2o_ccpvdz, in f64, from files to a
file, and says what the kernels took; NumPy (optimize=True, by BLAS) and PyTorch take the same arrays. The least time of
each counts, in milliseconds; all three must agree to 1e-12 of the largest integral. Start with OMP_NUM_THREADS set as
--threads says, as NumPy's BLAS reads that alone.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import numpy
import torch

SPEC = "pqrs,pt,qu,rv,sw->tuvw"
DATA = pathlib.Path(__file__).resolve().parent.parent / "examples/data/h2o_ccpvdz"


def fastest(call, repeat):
    """Milliseconds of the fastest of some calls after a first one."""
    call()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def by_command_line(ricci, threads, repeat):
    """What `ricci einsum` computes, and the milliseconds that it reports of its best run."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npy"
        orbitals = str(DATA / "mo_coeff.npy")
        command = [ricci, "einsum", SPEC, str(DATA / "eri_ao.npy"), *[orbitals] * 4, "-o", str(out)]
        done = subprocess.run([*command, "--repeat", str(repeat), "--json"], check=True, capture_output=True, text=True,
                              env={**os.environ, "RICCI_THREADS": str(threads)})
        return numpy.load(out), json.loads(done.stdout)["best_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ricci")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    integrals, orbitals = numpy.load(DATA / "eri_ao.npy"), numpy.load(DATA / "mo_coeff.npy")
    operands = (integrals, orbitals, orbitals, orbitals, orbitals)
    tensors = [torch.from_numpy(operand) for operand in operands]
    want = numpy.einsum(SPEC, *operands, optimize=True)
    got, ms = by_command_line(options.ricci, options.threads, options.repeat)
    for other in (got, torch.einsum(SPEC, *tensors).numpy()):
        if numpy.abs(other - want).max() > 1e-12 * numpy.abs(want).max():
            sys.exit("the results differ")
    peers = {
        "numpy": fastest(lambda: numpy.einsum(SPEC, *operands, optimize=True), options.repeat),
        "torch": fastest(lambda: torch.einsum(SPEC, *tensors), options.repeat),
    }
    print(f"ricci {ms:.3f} ms, " + ", ".join(f"{name} {value:.3f} ms" for name, value in peers.items()))
    if options.json is None:
        return
    extents = " ".join(f"{axis}={len(orbitals)}" for axis in "pqrstuvw")
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump({
            "bench": "four_index", "set": "h2o_ccpvdz", "dtype": "f64", "device": platform.processor() or platform.machine(),
            "threads": options.threads, "date": datetime.date.today().isoformat(), "commit": options.commit,
            "command": f"bench/four_index.py RICCI --threads {options.threads} --repeat {options.repeat}",
            "versions": {"numpy": numpy.__version__, "torch": torch.__version__},
            "cases": [{"id": "water", "spec": SPEC, "extents": extents, "ms": ms, "peers": peers}],
        }, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

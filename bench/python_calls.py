#!/usr/bin/env python3
"""What a call from Python costs: plans and ricci.einsum on 2 x 2 matrices, beside numpy.einsum and torch.einsum in one run.

usage: PYTHONPATH=build/release/python python_calls.py [--repeat 15] [--json FILE] [--commit HASH]

The kernel of so small a product takes a hundredth of each figure, so that what is shown is the overhead. Calls are timed
in rounds of 20,000; the figures are medians of the rounds, which take turns. Import is that of a new process, without
NumPy's own. PyTorch is measured where it is installed.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import ricci

CALLS = 20000
SPEC = "ab,bc->ac"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return name


def calls():
    """(id, text, target in us or None, function) of each kind of call."""
    a, b, out = np.random.rand(2, 2), np.random.rand(2, 2), np.empty((2, 2))
    plan = ricci.plan_einsum(SPEC, a, b)
    yield "plan_numpy", "plan(a, b, out=c), NumPy", 1.0, lambda: plan(a, b, out=out)
    yield "plan_numpy_new", "plan(a, b), NumPy", None, lambda: plan(a, b)
    yield "einsum_numpy", "ricci.einsum(spec, a, b), NumPy, plan found", 3.0, lambda: ricci.einsum(SPEC, a, b)
    yield "numpy_einsum", "numpy.einsum(spec, a, b)", None, lambda: np.einsum(SPEC, a, b)
    try:
        import torch
    except ImportError:
        return
    torch.set_grad_enabled(False)
    ta, tb, tout = (torch.from_numpy(x) for x in (a, b, out))
    planned = ricci.plan_einsum(SPEC, ta, tb)
    yield "plan_torch", "plan(a, b, out=c), PyTorch", 0.4, lambda: planned(ta, tb, out=tout)
    yield "einsum_torch", "ricci.einsum(spec, a, b), PyTorch, plan found", 3.0, lambda: ricci.einsum(SPEC, ta, tb)
    yield "torch_einsum", "torch.einsum(spec, a, b)", None, lambda: torch.einsum(SPEC, ta, tb)


def round_us(function):
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        function()
    return (time.perf_counter_ns() - start) / CALLS * 1e-3


def import_ms():
    """Of the module alone, in a process that has imported NumPy."""
    code = "import time, numpy; t = time.perf_counter(); import ricci; print(1e3 * (time.perf_counter() - t))"
    return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    wanted = parser.parse_args()
    kinds = list(calls())
    rounds = {id_: [] for id_, *_ in kinds}
    empty = []
    for _ in range(wanted.repeat):
        empty.append(round_us(lambda: None))
        for id_, _, _, function in kinds:
            rounds[id_].append(round_us(function))
    loop = statistics.median(empty)
    cases = []

    def add(id_, what, unit, samples, target):
        value = statistics.median(samples)
        line = {"id": id_, "what": what, "unit": unit, "value": round(value, 4), "min": round(min(samples), 4), "max": round(max(samples), 4), "repetitions": len(samples)}
        if target is not None:
            line.update(target=target, met=value <= target)
        cases.append(line)
        print(f"{what:50} {value:8.3f} {unit}" + ("" if target is None else f"  target {target:g}: {'met' if value <= target else 'MISSED'}"))

    for id_, what, target, _ in kinds:
        add(id_, what, "us", [sample - loop for sample in rounds[id_]], target)
    import_ms()
    add("import", "import ricci, NumPy being there", "ms", [import_ms() for _ in range(wanted.repeat)], 5.0)
    if wanted.json:
        command = "python3 bench/python_calls.py " + " ".join(sys.argv[1:])
        result = {
            "bench": "python_calls", "device": machine(), "threads": len(os.sched_getaffinity(0)),
            "date": datetime.date.today().isoformat(), "commit": wanted.commit, "command": command, "cases": cases,
        }  # fmt: skip
        with open(wanted.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()

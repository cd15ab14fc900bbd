#!/usr/bin/env python3
"""What the inner loops of contractions are made of, counted from SASS: needs no GPU, but nvdisasm or cuobjdump on PATH.

usage: bench/inner_loop.py RICCI CASES.csv [--dtype f64] [--precision f32] [--target sm_90] [--only ID ...]

One line a case: the products' share of the most that the loop takes on one of a multiprocessor's four parts: cycles of
its pipe for products, of shared memory (which four warps share), of issue. Rates are those of sm_90. Beside them the
loop's integer instructions, those that a branch jumps over, too: what works out where elements lie.
"""
import argparse
import csv
import json
import re
import subprocess
from collections import Counter

# Cycles of a part's pipe for one instruction of a warp: 66 TF/s of f64 on 132 multiprocessors at 1.98 GHz; mma.sync of
# narrow types at 0.62 of wgmma (arXiv:2402.13499); 32 multiply-adds of f32 a cycle.
PIPE_CYCLES = {"DMMA.16x8x16": 64, "DMMA.16x8x8": 32, "DMMA.16x8x4": 16, "DMMA.8x8x4": 16, "HMMA.1688.F32.TF32": 6.45,
               "HMMA.16816.F32": 6.45, "HMMA.16816.F32.BF16": 6.45, "FFMA": 1, "DFMA": 2}


INTEGER = re.compile(r"U?(IMAD|IADD3|LEA|SHF|LOP3|ISETP|SEL|IABS|PRMT|VIADD|IMNMX|VIMNMX)")


class Loop:
    """The smallest loop with the most products: how often each instruction stands in it."""

    def __init__(self, always, sometimes):
        self.always, self.sometimes = always, sometimes  # sometimes: behind a branch that jumps over it

    @property
    def products(self):
        return sum(PIPE_CYCLES.get(op, 0) * n for op, n in self.always.items())

    @property
    def shared(self):
        """128 bytes a cycle, for a warp of each part."""
        return 4 * sum(n * width(op) / 4 for op, n in self.always.items() if op.startswith(("LDS", "LDGSTS", "STS")))

    @property
    def issue(self):
        return sum(n for op, n in self.always.items() if op != "NOP")

    @property
    def integer(self):
        return sum(n for op, n in (self.always + self.sometimes).items() if INTEGER.match(op))

    @property
    def share(self):
        return self.products / max(self.products, self.shared, self.issue)


def width(op):
    """Bytes of a lane that an access moves; of matrices, what four of them are to a lane."""
    if op.startswith("LDSM"):
        return 16 if op.endswith(".4") else 8 if op.endswith(".2") else 4
    found = re.search(r"\.(128|64)$", op)
    return int(found.group(1)) // 8 if found else 4


def operation(text):
    return re.sub(r"^@!?U?P\w+\s+", "", text).split()[0]


def kernels(sass):
    """Per function the instructions, and the numbers of those that labels stand before."""
    found = []
    for line in sass.splitlines():
        if re.match(r"\s*\.text\.|\s*Function :", line):
            found.append(([], {}))
        if not found:
            continue
        lines, labels = found[-1]
        if label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label.group(1)] = len(lines)
        elif text := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            lines.append(text.group(1).strip())
    return [each for each in found if each[0]]


def jumps(lines, labels):
    for k, text in enumerate(lines):
        target = re.search(r"\bBRA\b.*`\((\.L_x_\d+)\)", text)
        if target and target.group(1) in labels:
            yield k, labels[target.group(1)], text.startswith("@")


def inner_loop(lines, labels):
    """From the first product to the last one where no loop multiplies; None where nothing does."""
    loops = [(start, end) for end, start, _ in jumps(lines, labels) if start <= end]

    def products(loop):
        return sum(operation(text) in PIPE_CYCLES for text in lines[loop[0]:loop[1] + 1])

    loops = [loop for loop in loops if products(loop)]
    if not loops:
        places = [k for k, text in enumerate(lines) if operation(text) in PIPE_CYCLES]
        if not places:
            return None
        loops = [(places[0], places[-1])]
    start, end = min(loops, key=lambda loop: (-products(loop), loop[1] - loop[0]))
    over = set()
    for at, target, conditional in jumps(lines, labels):
        if conditional and start <= at < target <= end:
            over.update(range(at + 1, target))
    always, sometimes = Counter(), Counter()
    for k in range(start, end + 1):
        (sometimes if k in over else always)[operation(lines[k])] += 1
    return Loop(always, sometimes)


class Compiled:
    """A case's plan, its sources and its machine code."""

    def __init__(self, ricci, spec, extents, options):
        command = [ricci, "show", spec, *extents.split(), *options]
        shown = json.loads(subprocess.run(command + ["--plan", "--asm", "--json"], check=True, text=True,
                                          capture_output=True).stdout)
        self.plan = shown["plan"]
        self.kernels = kernels(shown["asm"])

    @property
    def product(self):
        """The schedule of the step that multiplies by tiles, if there is one: others copy, split or add."""
        steps = self.plan["schedule"].split("; ")
        return next((step for step in steps if step.startswith(("fma", "m8n8", "m16n8", "wgmma"))), None)

    def products_kernel(self):
        return max(self.kernels, key=lambda kernel: sum(PIPE_CYCLES.get(operation(text), 0) for text in kernel[0]))

    def operations(self):
        return Counter(operation(text) for lines, _ in self.kernels for text in lines)

    def loop(self):
        return inner_loop(*self.products_kernel())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ricci")
    parser.add_argument("cases")
    parser.add_argument("--dtype", default="f64")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--only", nargs="*", default=[])
    wanted = parser.parse_args()
    options = ["--dtype", wanted.dtype, "--precision", wanted.precision, "--target", wanted.target]
    print(f"{'case':18} {'products':>8} {'shared':>7} {'issue':>6} {'integer':>7} {'share':>6} {'regs':>5}  schedule")
    with open(wanted.cases, encoding="utf-8") as file:
        for case in csv.DictReader(file):
            if wanted.only and case["id"] not in wanted.only:
                continue
            compiled = Compiled(wanted.ricci, case["spec"], case["extents"], options)
            loop = compiled.loop()
            mix = f"{loop.products:8.0f} {loop.shared:7.0f} {loop.issue:6.0f} {loop.integer:7} {loop.share:6.2f}" if loop else f"{'-':>8} {'-':>7} {'-':>6} {'-':>7} {'-':>6}"
            print(f"{case['id']:18} {mix} {compiled.plan['registers']:5}  {compiled.product}", flush=True)


if __name__ == "__main__":
    main()

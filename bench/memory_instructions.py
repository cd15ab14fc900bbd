#!/usr/bin/env python3
"""Counts the memory instructions in the SASS of permutations' kernels, as two builds of `ricci` write them; needs no GPU.

  bench/memory_instructions.py bench/problems/ttc57.csv OLD/bin/ricci NEW/bin/ricci --dtypes f32 f64 --target sm_90

Prints the cases whose counts differ, with both plans. Where the builds choose other schedules, the newer one is asked
for the older one's, too, so that a kernel is told from a choice. Needs `nvdisasm` on the PATH, as `ricci show --asm`
does. Exit code 1 where kernels of the same schedule differ.
"""
import argparse
import collections
import csv
import os
import pathlib
import re
import string
import subprocess
import sys
import tempfile

# Loads, stores, copies and exchanges, with the width and the cache hints that make them other instructions.
MEMORY = re.compile(r"\b(?:LDGSTS|UTMALDG|UTMASTG|LDG|STG|LDSM|STSM|LDS|STS|LDL|STL|SHFL)\b[.\w]*")


def shown(ricci, row, dtype, target, folder, schedule=None):
    """Of a case's kernel, how many there are of each memory instruction, and its plan; by the build's own choice if no
    schedule is given."""
    letters = string.ascii_letters[:int(row["rank"])]
    spec = letters + "->" + "".join(letters[int(k)] for k in row["perm"].split())
    extents = [f"{letter}={extent}" for letter, extent in zip(letters, row["dims"].split())]
    environment = {**os.environ, "RICCI_CACHE_DIR": str(folder)}
    plugins = pathlib.Path(ricci).resolve().parent.parent / "lib"  # of a build that has been moved, too
    if plugins.is_dir():
        environment["RICCI_PLUGIN_DIR"] = str(plugins)
    words = [ricci, "show", spec, *extents, "--dtype", dtype, "--target", target]
    if schedule:
        words += ["--schedule", schedule]
    run = lambda more: subprocess.run(words + more, env=environment, check=True, capture_output=True, text=True).stdout
    counts = collections.Counter(MEMORY.findall(run(["--asm"])))
    if not counts:
        sys.exit(f"memory_instructions.py: no memory instruction in the SASS of {row['id']}: is nvdisasm on the PATH?")
    plan = re.search(r"^// plan +(.*)$", run([]), re.MULTILINE)
    return counts, plan.group(1) if plan else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", help="CSV of permutations, as for ricci-bench permute")
    parser.add_argument("before", help="the older build's ricci")
    parser.add_argument("now", help="the newer one's")
    parser.add_argument("--dtypes", nargs="+", default=["f64"])
    parser.add_argument("--target", default="sm_90")
    options = parser.parse_args()
    with open(options.set, newline="") as file:
        rows = list(csv.DictReader(file))
    same = chosen = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for dtype in options.dtypes:
            for row in rows:
                of = lambda name, ricci, schedule=None: shown(ricci, row, dtype, options.target,
                                                              pathlib.Path(folder, name), schedule)
                old, old_plan = of("before", options.before)
                new, new_plan = of("now", options.now)
                if old == new:
                    same += 1
                    continue
                lines = [("before", old, old_plan), ("now", new, new_plan)]
                old_schedule = old_plan.split(":")[0]
                if old_schedule != new_plan.split(":")[0]:
                    again, plan = of("now", options.now, old_schedule)
                    lines.append(("asked", again, plan))
                    chosen += again == old
                    different += again != old
                else:
                    different += 1
                for name, counts, plan in lines:
                    text = ", ".join(f"{count} {instruction}" for instruction, count in sorted(counts.items()))
                    print(f"{row['id']} {dtype} {name:6} {text}: {plan}", flush=True)
    print(f"{same} of {same + chosen + different} kernels have the same memory instructions, {chosen} more when the older "
          f"schedule is asked for, {different} have others")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()

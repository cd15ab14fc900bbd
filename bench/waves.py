#!/usr/bin/env python3
"""What waves of blocks that are not full cost at most: a bound of what stream-K could save. Needs no GPU.

usage: bench/waves.py RICCI CASES.csv RESULT.json [--multiprocessors 132] [--output FILE]

RESULT.json is of `ricci-bench contract`: for each case that was one kernel by tiles and still is, the blocks of its launch, over those that
as many full waves would have. Where everything but memory took that share of its time, it would be faster by its
inverse, less the partial tiles that multiprocessors would write and read again, one each.
"""
import argparse
import csv
import json
import math
import re
import subprocess
from datetime import date


def blocks_of(ricci, spec, extents, dtype, plan):
    """Blocks of a plan by tiles, and elements of one, from its name and the program's indices; None where the plan is of several programs by now."""
    text = subprocess.run([ricci, "show", spec, *extents, "--ir", "--dtype", dtype, "--target", "sm_90"], capture_output=True, text=True, check=True).stdout
    if len(re.findall(r"^\w+\[.*\] = ", text, re.M)) != 1:
        return None
    extent = {name: int(number) for name, number in re.findall(r"^index (\w+) = (\d+)", text, re.M)}
    written = re.search(r"^C\[(.*?)\] =", text, re.M).group(1)
    rows, columns = plan.split(" x ")[:2]
    # Of several letters in front of a number: axes that are one.
    tile = {letter: (names, int(number)) for names, number in
            re.findall(r"([a-zA-Z]+)(\d+)", rows.split()[-1] + columns.split()[0]) for letter in names}
    blocks = elements = 1
    for names, size in {tile.get(name, (name, 1)) for name in re.findall(r"[a-zA-Z]", written)}:
        blocks *= math.ceil(math.prod(extent[name] for name in names) / size)
        elements *= size
    return blocks, elements


def saved(case, full, partial_ms, bytes_ms):
    """Time over what it would be: the share of the case beyond its bytes in full waves, and partial tiles."""
    shorter = max(case["ms"] * full, bytes_ms) + partial_ms
    return max(case["ms"] / shorter, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ricci")
    parser.add_argument("cases")
    parser.add_argument("result")
    parser.add_argument("--multiprocessors", type=int, default=132)
    parser.add_argument("--output")
    args = parser.parse_args()
    with open(args.cases, encoding="utf-8") as file:
        cases = {row["id"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    with open(args.result, encoding="utf-8") as file:
        result = json.load(file)
    size = {"f64": 8, "f32": 4, "bf16": 2, "c128": 16}[result["dtype"]]
    rate = result["limit"]["copy_GBs"] * 1e6  # bytes in a millisecond
    made = []
    for case in result["cases"]:
        if case["steps"] != 1 or " stages " not in case["plan"] or " beside " in case["plan"]:
            continue
        row = cases[case["id"]]
        found = blocks_of(args.ricci, row["spec"], row["extents"].split(), result["dtype"], case["plan"])
        if found is None:
            continue
        blocks, elements = found
        full = blocks / args.multiprocessors / math.ceil(blocks / args.multiprocessors)
        partial = 2 * args.multiprocessors * elements * size / rate
        made.append({"id": case["id"], "blocks": blocks, "full": full, "most": saved(case, full, partial, case["bytes"] / rate)})
    mean = math.exp(sum(math.log(case["most"]) for case in made) / len(made))
    print(f"{result['set']} {result['dtype']}: {len(made)} cases of one kernel by tiles, at most {mean:.3f} times as fast in full waves")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump({"bench": "waves", "set": result["set"], "dtype": result["dtype"], "device": result["device"], "date": str(date.today()),
                       "commit": result["commit"], "geomean": mean, "cases": made}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()

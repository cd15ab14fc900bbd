#!/usr/bin/env python3
"""Times a set of permutations on a CPU by two builds of the bench in turns, and says how their times compare.

  bench/compare.py SET.csv 'OLD/ricci bench' NEW/ricci-bench --output bench/results/compare-SET-TYPE-DEVICE.json

Each case is timed by one process of either build after the other, `--rounds` times, each second time the other way round;
caches of kernels are the builds' own and empty at first. `ratio` is how many times as fast the new one is by the best
round, `ratio_median` by the median of the rounds. Cases that the output has already are kept: `--first` and `--count`
time a set in pieces, on a machine that others wait for. Commands are split at spaces.
"""
import argparse
import csv
import datetime
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile


def summary(values):
    values = sorted(values)
    return {"min": values[0], "median": statistics.median(values), "max": values[-1],
            "geomean": math.exp(sum(map(math.log, values)) / len(values))}


def timed(command, cases, folder, name, options):
    """The only case of one run of a build's bench, and its device."""
    output = folder / "one.json"
    words = shlex.split(command) + ["permute", str(cases), "--device", "cpu", "--dtype", options.dtype, "--threads",
                                    str(options.threads), "--repeat", str(options.repeat), "--output", str(output)]
    environment = {**os.environ, "RICCI_CACHE_DIR": str(folder / name)}
    plugins = pathlib.Path(words[0]).resolve().parent.parent / "lib"  # of a build that has been moved, too
    if plugins.is_dir():
        environment["RICCI_PLUGIN_DIR"] = str(plugins)
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    result = json.loads(output.read_text())
    return result["cases"][0], result["device"]


def compared(row, fields, folder, options):
    cases = folder / (pathlib.Path(options.set).stem + ".csv")
    with open(cases, "w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerow(row)
    runs = {"before": [], "now": []}
    for number in range(options.rounds):
        builds = [("before", options.before), ("now", options.now)]
        for name, command in builds if number % 2 == 0 else builds[::-1]:
            case, device = timed(command, cases, folder, name, options)
            runs[name].append(case)
    ms = {name: [case["ms"] for case in list] for name, list in runs.items()}
    return device, {
        "id": row["id"], "ms": min(ms["now"]), "before_ms": min(ms["before"]),
        "ratio": min(ms["before"]) / min(ms["now"]),
        "ratio_median": statistics.median(ms["before"]) / statistics.median(ms["now"]),
        "plan": runs["now"][0]["plan"], "before_plan": runs["before"][0]["plan"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", help="CSV of permutations, as for ricci-bench permute")
    parser.add_argument("before", help="command of the older build's bench")
    parser.add_argument("now", help="command of the newer one's")
    parser.add_argument("--output", required=True, help="JSON file, to whose cases these are added")
    parser.add_argument("--dtype", default="f64")
    parser.add_argument("--threads", type=int, default=0, help="0: all")
    parser.add_argument("--rounds", type=int, default=3, help="processes of either build for each case")
    parser.add_argument("--repeat", type=int, default=11, help="runs in each of them, of which the median counts")
    parser.add_argument("--first", type=int, default=0, help="number of the first case to time, from 0")
    parser.add_argument("--count", type=int, default=None, help="how many cases to time")
    parser.add_argument("--commits", nargs=2, default=("", ""), help="of the older and the newer build")
    options = parser.parse_args()

    with open(options.set, newline="") as file:
        rows = list(csv.DictReader(file))
    output = pathlib.Path(options.output)
    head = {"bench": "compare", "set": pathlib.Path(options.set).stem, "dtype": options.dtype,
            "before": options.commits[0], "commit": options.commits[1], "threads": options.threads,
            "rounds": options.rounds, "repeat": options.repeat}
    result = json.loads(output.read_text()) if output.exists() else {**head, "cases": []}
    for key, value in head.items():
        if result[key] != value:
            sys.exit(f"compare.py: {output} was made with {key} {result[key]!r}, not {value!r}")
    cases = {case["id"]: case for case in result["cases"]}
    stop = len(rows) if options.count is None else options.first + options.count
    with tempfile.TemporaryDirectory() as folder:
        for row in rows[options.first:stop]:
            result["device"], cases[row["id"]] = compared(row, rows[0].keys(), pathlib.Path(folder), options)
            result["date"] = datetime.date.today().isoformat()
            result["cases"] = [cases[each["id"]] for each in rows if each["id"] in cases]
            for key in "ratio", "ratio_median":
                result[f"summary_{key}"] = summary([case[key] for case in cases.values()])
            output.write_text(json.dumps(result, indent=2) + "\n")
            print("{id} {before_ms:.3f} {ms:.3f} ms, {ratio:.3f} by the best, {ratio_median:.3f} by the median".format(
                **cases[row["id"]]), flush=True)


if __name__ == "__main__":
    main()

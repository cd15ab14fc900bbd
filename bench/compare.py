#!/usr/bin/env python3
"""Times a set of permutations or programs by two builds of the bench in turns, and says how their times compare.

  bench/compare.py SET.csv 'OLD/ricci bench' NEW/ricci-bench --output bench/results/compare-SET-TYPE-DEVICE.json
  bench/compare.py examples/programs/grid OLD NEW --extent x=1000000 --output bench/results/compare-grid-DEVICE.json

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


def timed(command, problem, folder, name, options):
    """The only case of one run of a build's bench, and its device."""
    output = folder / "one.json"
    if problem.suffix == ".ricci":
        what = ["run", str(problem)] + [word for extent in options.extent for word in ("--extent", extent)]
    else:
        what = ["permute", str(problem), "--dtype", options.dtype]
    words = shlex.split(command) + what + ["--device", options.device, "--repeat", str(options.repeat),
                                           "--output", str(output)]
    if options.device == "cpu":
        words += ["--threads", str(options.threads)]
    environment = {**os.environ, "RICCI_CACHE_DIR": str(folder / name)}
    plugins = pathlib.Path(words[0]).resolve().parent.parent / "lib"  # of a build that has been moved, too
    if plugins.is_dir():
        environment["RICCI_PLUGIN_DIR"] = str(plugins)
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    result = json.loads(output.read_text())
    return result["cases"][0], result["device"]


def problems_of(path, folder):
    """Of a set, its cases by id: programs, or files of one permutation each."""
    if path.is_dir() or path.suffix == ".ricci":
        return {each.stem: each for each in (sorted(path.glob("*.ricci")) if path.is_dir() else [path])}
    problems = {}
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            problems[row["id"]] = folder / row["id"] / path.name
            problems[row["id"]].parent.mkdir()
            with open(problems[row["id"]], "w", newline="") as one:
                writer = csv.DictWriter(one, reader.fieldnames)
                writer.writeheader()
                writer.writerow(row)
    return problems


def compared(name_of_case, problem, folder, options):
    runs = {"before": [], "now": []}
    for number in range(options.rounds):
        builds = [("before", options.before), ("now", options.now)]
        for name, command in builds if number % 2 == 0 else builds[::-1]:
            case, device = timed(command, problem, folder, name, options)
            runs[name].append(case)
    ms = {name: [case["ms"] for case in list] for name, list in runs.items()}
    return device, {
        "id": name_of_case, "ms": min(ms["now"]), "before_ms": min(ms["before"]),
        "ratio": min(ms["before"]) / min(ms["now"]),
        "ratio_median": statistics.median(ms["before"]) / statistics.median(ms["now"]),
        "plan": runs["now"][0].get("plan", ""), "before_plan": runs["before"][0].get("plan", "")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path,
                        help="CSV of permutations, as for ricci-bench permute; a program, or a folder of them")
    parser.add_argument("before", help="command of the older build's bench")
    parser.add_argument("now", help="command of the newer one's")
    parser.add_argument("--output", required=True, help="JSON file, to whose cases these are added")
    parser.add_argument("--dtype", default="f64", help="of permutations")
    parser.add_argument("--extent", action="append", default=[], help="of programs, NAME=NUMBER")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="of a CPU, 0: all")
    parser.add_argument("--rounds", type=int, default=3, help="processes of either build for each case")
    parser.add_argument("--repeat", type=int, default=11, help="runs in each of them, of which the median counts")
    parser.add_argument("--only", nargs="+", help="ids of the cases to time")
    parser.add_argument("--first", type=int, default=0, help="number of the first case to time, from 0")
    parser.add_argument("--count", type=int, default=None, help="how many cases to time")
    parser.add_argument("--commits", nargs=2, default=("", ""), help="of the older and the newer build")
    options = parser.parse_args()

    output = pathlib.Path(options.output)
    head = {"bench": "compare", "set": options.set.stem,
            "dtype": options.dtype if options.set.suffix == ".csv" else "programs' own",
            "before": options.commits[0], "commit": options.commits[1], "threads": options.threads,
            "rounds": options.rounds, "repeat": options.repeat}
    result = json.loads(output.read_text()) if output.exists() else {**head, "cases": []}
    for key, value in head.items():
        if result[key] != value:
            sys.exit(f"compare.py: {output} was made with {key} {result[key]!r}, not {value!r}")
    cases = {case["id"]: case for case in result["cases"]}
    with tempfile.TemporaryDirectory() as folder:
        problems = problems_of(options.set, pathlib.Path(folder))
        if options.only:
            problems = {name: problems[name] for name in options.only}
        stop = len(problems) if options.count is None else options.first + options.count
        for name in list(problems)[options.first:stop]:
            result["device"], cases[name] = compared(name, problems[name], pathlib.Path(folder), options)
            result["date"] = datetime.date.today().isoformat()
            result["cases"] = [cases[each] for each in problems if each in cases]
            for key in "ratio", "ratio_median":
                result[f"summary_{key}"] = summary([case[key] for case in cases.values()])
            output.write_text(json.dumps(result, indent=2) + "\n")
            print("{id} {before_ms:.3f} {ms:.3f} ms, {ratio:.3f} by the best, {ratio_median:.3f} by the median".format(
                **cases[name]), flush=True)


if __name__ == "__main__":
    main()

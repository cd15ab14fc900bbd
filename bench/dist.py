#!/usr/bin/env python3
"""Times the ladder of coupled cluster doubles (examples/ladder.cpp) on 1, 2, ... ranks.

usage: bench/dist.py LADDER [--ranks 1,2,4] [--mpiexec mpirun] [--nv 48] [--no 12] [--tile 12] [--calls 5]
                     [--set NAME] [--output FILE] [--commit HASH]

LADDER is build/release/examples/bin/ladder. For the contraction and for the exchange of its result: tasks, bytes that ranks
receive (exact, by the plan), what submission costs rank 0 for each task or transfer, seconds of a call beside those
predicted, and how many times as fast as on the first number of ranks. What mpirun needs beside (hosts, binding) goes into
--mpiexec. Ranks that share processors say nothing of scaling.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
from datetime import date

FIGURES = {
    "tasks": r"^tasks +(\d+),", "kernels": r", (\d+) kernels", "stationary": r"^stationary +(.+)",
    "received_most": r"(\d+) B by the one", "received_all": r"(\d+) B by all", "flop": r"^flops +(\S+)",
    "predicted_s": r"^predicted +(\S+) s", "workers": r"(\d+) workers", "s": r"^measured +(\S+) s", "submission_us": r", (\S+) us for each",
}


def number(text):
    try:
        return float(text) if re.search(r"[.e]", text) else int(text)
    except ValueError:
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--mpiexec", default="mpirun")
    for name, default in (("nv", 48), ("no", 12), ("tile", 12), ("calls", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--set", default="ladder")
    parser.add_argument("--output")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    sizes = [word for name in ("nv", "no", "tile", "calls") for word in (f"--{name}", str(getattr(options, name)))]
    cases = []
    print("case      ranks    tasks stays  received by one          by all  submission        call   predicted  speed")
    for ranks in options.ranks.split(","):
        command = [*shlex.split(options.mpiexec), "-n", ranks, options.ladder, *sizes]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name, part in re.findall(r"^(ladder|exchange) (.*?^measured.*?)$", text, re.S | re.M):
            found = {figure: re.search(pattern, part, re.M) for figure, pattern in FIGURES.items()}
            case = {"id": name, "ranks": int(ranks), **{figure: number(match.group(1)) for figure, match in found.items() if match}}
            first = next((one for one in cases if one["id"] == name), case)
            case["speed_over_first"] = first["s"] / case["s"]
            cases.append(case)
            print(f"{name:10}{ranks:>5}{case['tasks']:>9}{case.get('stationary', '-'):>6}{case['received_most']:>15} B{case['received_all']:>14} B"
                  f"{case['submission_us']:>9.2f} us{case['s']:>10.4g} s{case['predicted_s']:>10.3g} s{case['speed_over_first']:>7.2f}")
    if options.output:
        model = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
        made = {"bench": "dist", "set": options.set, "dtype": "f64", "device": model.group(1) if model else "unknown",
                "date": date.today().isoformat(), "commit": options.commit,
                "command": f"bench/dist.py LADDER --ranks {options.ranks} --mpiexec '{options.mpiexec}' {' '.join(sizes)}", "cases": cases}
        pathlib.Path(options.output).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()

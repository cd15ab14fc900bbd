#!/usr/bin/env python3
"""Joins results of `ricci-bench contract` of parts of one set, timed one after the other, into one.

  bench/join.py SET.csv PART.json ... > bench/results/contract-SET-TYPE-DEVICE.json

Cases come in the order of the set, and summaries are made anew. Of the parts' limits the largest are named. Shares of cases
that were timed in turns with both limits stay; others are of the largest: a part whose limits were timed beside something
else would flatter its cases. The set's name says so where cases are missing.
"""
import csv
import json
import math
import sys


def summary(values):
    values = sorted(values)

    def at(share):
        return values[int(share * (len(values) - 1))]

    geomean = math.exp(sum(map(math.log, values)) / len(values))
    return {"min": values[0], "p10": at(0.1), "median": at(0.5), "geomean": geomean, "max": values[-1]}


def main():
    with open(sys.argv[1], newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    parts = [json.load(open(name)) for name in sys.argv[2:]]
    joined = dict(parts[0])
    for key in ("bench", "set", "dtype", "device", "command", "commit", "fraction_of"):
        if len({part[key] for part in parts}) != 1:
            sys.exit(f"join.py: the parts have another {key} each")
    joined["limit"] = {key: max(part["limit"][key] for part in parts) for key in parts[0]["limit"]}
    cases = {case["id"]: case for part in parts for case in part["cases"]}
    joined["cases"] = [cases[each] for each in ids if each in cases]
    if len(joined["cases"]) < len(ids):
        joined["set"] += f" ({len(joined['cases'])} of {len(ids)})"
    if joined["fraction_of"] == "roofline":
        copy, gemm = joined["limit"]["copy_GBs"] * 1e6, joined["limit"]["gemm_TFs"] * 1e9  # per ms
        for case in joined["cases"]:
            if "copy_GBs" in case and "product_GFs" in case:
                continue
            case["fraction"] = max(case["bytes"] / copy, case["flop"] / gemm) / case["ms"]
    ratios = {}
    for case in joined["cases"]:
        for name, ms in case.get("peers", {}).items():
            ratios.setdefault(name, []).append(ms / case["ms"])
        if len(case.get("peers", {})) > 1:
            ratios.setdefault("the fastest of them", []).append(min(case["peers"].values()) / case["ms"])
    joined["summary"] = summary([case["fraction"] for case in joined["cases"]])
    joined["speed_over"] = {name: summary(values) for name, values in ratios.items()}
    if all("model_ms" in case for case in joined["cases"]):
        joined["estimate_of_measured"] = summary([case["ms"] / case["model_ms"] for case in joined["cases"]])
    json.dump(joined, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes docs/results.md and the README's headlines from bench/results/*.json, and the plots in docs/plots.

usage: bench/report.py [--check]     --check: exit 1 if they are not what the results say
"""
import json
import math
import pathlib
import re
import statistics
import sys

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = "<!-- headlines: made by bench/report.py from bench/results; do not edit by hand -->\n"
TOP = """# Results

Made by `bench/report.py` from [bench/results](../bench/results); do not edit by hand. [limits.md](../bench/limits.md) says what bounds
permutations on a GPU.

"""
PLOTS = pathlib.Path("docs/plots")
END = "<!-- end of headlines -->\n"
# A CPU calls itself by its instructions; whose it is stands in the name of its file.
PROCESSORS = {"amd-epyc": "AMD EPYC", "intel-xeon": "Intel Xeon"}
# Columns of peers: title, key in the result, statistic.
OVER_GPU = [
    ("over cuTENSOR, worst", "cutensor", "min"),
    ("geometric mean", "cutensor", "geomean"),
    ("over cuTT's measured plans, worst", "cutt_measured", "min"),
    ("geometric mean", "cutt_measured", "geomean"),
]
OVER_CPU = [
    ("over blocked loops, geometric mean", "blocked_loops", "geomean"),
    ("over HPTT (estimate), worst", "hptt", "min"),
    ("geometric mean", "hptt", "geomean"),
    ("over HPTT (measured), worst", "hptt_measured", "min"),
    ("geometric mean", "hptt_measured", "geomean"),
    ("over NumPy", "numpy", "geomean"),
]


def permute_table(results):
    lines = []
    for gpu in (True, False):
        rows = [r for r in results if r["bench"] == "permute" and ("NVIDIA" in r["device"]) == gpu]
        if not rows:
            continue
        limit = "the faster of cuMemcpy and a copy kernel" if gpu else "the faster of two copies by nontemporal stores, by as many threads"
        lines += [f"Permutations, share of the device's copy of the same size in the same run ({limit}):", ""]
        head = ["set", "type", "cases", "device", "copy GB/s", "worst", "10th percentile", "median", "geometric mean"]
        head += ["plans", "by the model alone, of measured"] + [title for title, _, _ in (OVER_GPU if gpu else OVER_CPU)]
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for r in sorted(rows, key=lambda r: (r["set"], r["dtype"])):
            s = r["summary"]
            row = [r["set"], r["dtype"], str(len(r["cases"])), r["device"], f"{r['limit']['copy_GBs']:.0f}"]
            row += [f"{s[k]:.2f}" for k in ("min", "p10", "median", "geomean")]
            by_model = r.get("estimate_of_measured")
            row += ["measured", f"{by_model['geomean']:.3f}"] if by_model else ["by the model", "-"]
            for _, peer, key in OVER_GPU if gpu else OVER_CPU:
                over = r.get("over_" + peer)
                row.append(f"{over[key]:.2f}x" if over else "-")
            lines.append("| " + " | ".join(row) + " |")
        lines.append("")
    return lines


PEERS = {"cutensor": "cuTENSOR's best", "torch": "torch.einsum", "numpy_loops": "NumPy, optimize=False", "numpy": "NumPy, optimize=True", "tblis": "TBLIS", "openblas": "OpenBLAS"}


def contract_table(results):
    rows = [r for r in results if r["bench"] == "contract"]
    if not rows:
        return []
    lines = ["Contractions, share of the roofline (compulsory bytes at the copy's rate, operations at that of a large matrix product, both of the same run), and speed over others:", ""]
    lines += ["| set | type | device | plans | by the model alone, of measured | matrix product GF/s | worst | median | geometric mean | over | worst | median | geometric mean |", "|" + "---|" * 13]
    for r in sorted(rows, key=lambda r: (r["set"], r["dtype"], r["device"], "--measure" not in r["command"])):
        plans = "measured" if "--measure" in r["command"] else "by the model"
        own = " | ".join(f"{r['summary'][key]:.2f}" for key in ("min", "median", "geomean"))
        model = f"{r['estimate_of_measured']['geomean']:.3f}" if "estimate_of_measured" in r else "-"
        for name, s in r["speed_over"].items() or [("-", None)]:
            over = " | ".join(f"{s[key]:.2f}" for key in ("min", "median", "geomean")) if s else "- | - | -"
            lines.append(f"| {r['set']} | {r['dtype']} | {r['device']} | {plans} | {model} | {r['limit']['gemm_TFs'] * 1e3:.0f} | {own} | {PEERS.get(name, name)} | {over} |")
    return lines + ["", "TBLIS knows no AMD processor after the first Zen. On the AMD EPYC (Zen 4) it was changed to take kernels by choice: those for AVX-512, of 16 x 12, which are faster there than those of the first Zen; plans that were measured are beside the latter. einsum_ir's LIBXSMM was held to AVX2 there (LIBXSMM_TARGET=hsw).", ""]


def cold_table(results):
    """Of contractions timed with an empty kernel cache: what a kernel and a plan cost."""
    lines = []
    rows = [r for r in results if r["bench"] == "contract" and "--measure" not in r["command"]]
    for r in sorted(rows, key=lambda r: (r["device"], r["set"], r["dtype"])):
        kernels = [c["compile_ms"] / c["steps"] for c in r["cases"] if c.get("compile_ms", 0) > 0]
        if 2 * len(kernels) < len(r["cases"]):
            continue
        plans = [c["plan_ms"] for c in r["cases"]]
        lines.append(f"| {r['set']} | {r['dtype']} | {r['device']} | {statistics.median(kernels):.0f} | {statistics.median(plans):.2f} |")
    if not lines:
        return []
    head = ["Contractions whose kernels were compiled in the run, medians: the compiler for one kernel, the choice of a plan:", ""]
    return [*head, "| set | type | device | kernel ms | plan ms |", "|" + "---|" * 5, *lines, ""]


# Why Ricci is behind the fastest of the others in contractions on a CPU, by the set's first word and what the others do there.
SLOW_ON_CPU = {
    ("tccg48", "einsum_ir blas"): "loops around OpenBLAS's assembly, which reads both operands where they lie; Ricci packs them, and its tiles pad an axis of 36 to 40. On the AMD EPYC: ccsd07 in f32 takes 0.87 of the time of before by tiles of 6x24 in nine tasks, and by hand 0.80 in four, whose blocks the second cache does not hold",
    ("tccg48", "einsum_ir"): "loops around small generated products, which read both operands where they lie; Ricci packs at least one of them. On the AMD EPYC the best of 24 candidates for ccsd02, of 10x16, takes 0.95 of the chosen one's time and is predicted to take 1.07",
    ("tccg48", "tblis"): "BLIS's packing and assembly; Ricci sums 76 terms in one go, as one order of sums serves any number of threads. On the AMD EPYC, where pairs of copies around long products are taken now, ccsd17 in f32 takes 0.87 of the time of before; that file's run was not undisturbed: ccsd01 takes 26.5 ms there, and 14.7 in the run before it. Where extents are odd it fills tiles over several axes taken as one; Ricci's pad each axis",
    ("tcl200", "einsum_ir"): "looked at two: Ricci read rows in place from memory, in runs of 16 (tcl0221) and across the sum (tcl0941), which cost more than was thought; packed, as by today's model, they reach 0.99 and 0.84 of the fastest on the AMD EPYC. There tcl0121 takes half a millisecond or less, 0.17 to 0.95 ms from run to run. What is slow on an Intel Xeon alone was not looked into",
    ("tcl200", "einsum_ir blas"): "On the AMD EPYC tcl0161, tcl0181 and tcl0481 took 1.6 times as long as the same kernels in the run before (8.5, 5.0 and 8.6 ms: 1.21, 1.37 and 1.04 of the fastest there), tcl0201 1.4 times, while the best of the others took as long or 1.15 times: memory was a quarter slower, why these lose more by it is not known. tcl0941 sums 250,047 terms for each of 3,969 results; of twelve candidates on the AMD EPYC the best, of 4x32, takes 0.89 of the chosen 9x16's time (predicted 1.02), and they take 1.2 to 1.4 times what is predicted",
    ("tcl200", "tblis"): "tcl0161 and tcl0201: see einsum_ir blas; timed on the AMD EPYC, of twelve candidates each: for tcl0721 vectors along another index and an operand copied first take 0.77 (predicted 0.96), for tcl0281 two copies 0.86 (predicted 0.84), for tcl0361 one 0.94 (predicted 0.90); for tcl0041 none takes less than the chosen one. Most are sums over three or four indices, which both pack; TBLIS fills tiles over several axes taken as one, Ricci's pad axes of 20 to 48 each. Plans now copy several tensors where that joins axes, and where copies are predicted to save 9 %: timed in turns tcl0721 takes 0.81 of its time before, tcl0281 0.86, tcl0361 0.93, tcl0621 0.89",
    ("talsh300", "tblis"): "TBLIS fills tiles over several axes taken as one; Ricci's pad axes of 8 to 31 each (13 to 16 in ts05300), or their last vector is a part. Of twelve candidates on the AMD EPYC one with a copy takes 0.89 of the chosen one's time for ts04836 (predicted 0.83), one with a copy and wide blocks 0.93 for ts07867; for ts08655 and ts08806 none takes less than 0.99. Plans made since that file join such axes by copies of several tensors where that is predicted to pay: ts08655 takes 0.72 of its time before, ts04836 with one copy 0.81, timed in turns; for ts07867 such copies take 0.88, for ts08806 1.15, neither of which is chosen",
    ("talsh300", "einsum_ir"): "candidates timed on the AMD EPYC: for ts06304 9x24 takes 0.89 of the chosen 3x20's time (predicted 1.08), as its panel of 20 columns exceeds the first cache; for ts09224 rows read in place take 0.71 (predicted 1.02); ts02031 takes 0.71 with an operand copied first (predicted 0.86), as in plans made since that file; ts04622 went along the smaller operand's neighbours, 1.2 to 1.4 times as long as along the larger one's. On an Intel Xeon plain loops take 0.55 of the time chosen for ts02484, one row in sums of 31, and are chosen in plans made since that file",
    ("talsh300", "einsum_ir blas"): "ts03204: an operand of 241 MB with 28 neighbours was packed; with both read in place it takes 0.92 of the chosen candidate's time on the AMD EPYC (predicted 1.00); ts01042: of the six best candidates none takes less than 0.99 of the chosen one's time. What is slow on an Intel Xeon alone was not looked into",
    ("batched", "tblis"): "one product after the other; eleven neighbours are too few for vectors of products side by side, and plain loops read with strides",
}


def slow_table(results):
    """Contractions on a CPU in which another library took less than 0.95 of Ricci's time, and which it was."""
    lines = []
    for r in results:
        if r["bench"] != "contract" or "--device cpu" not in r["command"]:
            continue
        slow = [(min(c["peers"].items(), key=lambda peer: peer[1]), c) for c in r["cases"] if c["peers"]]
        slow = [(name, ms, c) for (name, ms), c in slow if ms < 0.95 * c["ms"]]
        for name in sorted({name for name, _, _ in slow}):
            cases = ", ".join(f"{c['id'].removeprefix('tccg_')} {ms / c['ms']:.2f}" for peer, ms, c in slow if peer == name)
            lines.append(f"| {r['set']} | {r['dtype']} | {PEERS.get(name, name)} | {cases} | {SLOW_ON_CPU.get((re.split('[_ ]', r['set'])[0], name), 'not looked into yet')} |")
    if not lines:
        return []
    head = ["Contractions on a CPU of which another library takes less than 0.95 of Ricci's time, each with that share, and why:", ""]
    return head + ["| set | type | the fastest | cases | why |", "|" + "---|" * 5] + lines + [""]


def limits_of(predicted):
    return predicted["limits_of"].removeprefix("NVIDIA ").split()[0]


def over_timed_table(rows):
    """Predictions over what was timed on the device whose limits they are by, where it was the same plan."""
    lines = []
    for r in rows:
        ratios = sorted(c["predicted_ms"] / c["timed_ms"] for c in r["cases"] if c.get("timed_plan"))
        if len(ratios) < 2:
            continue
        logs = [math.log(ratio) for ratio in ratios]
        mean = sum(logs) / len(logs)
        spread = math.exp(math.sqrt(sum((one - mean) ** 2 for one in logs) / (len(logs) - 1)))
        timed = sum("timed_ms" in c for c in r["cases"])
        at = [f"{ratios[round(share * (len(ratios) - 1))]:.2f}" for share in (0, 0.1, 0.9, 1)]
        lines.append(f"| {r['set']} | {r['dtype']} | {limits_of(r)} | {len(ratios)} of {timed} | {math.exp(mean):.2f} | {spread:.2f} | {' | '.join(at)} |")
    if not lines:
        return []
    head = ["These predictions over what the same plans took on that device, where today's plan is the one that was timed, with the geometric standard deviation:", ""]
    return head + ["| set | type | device | cases | geometric mean | deviation | least | a tenth below | a tenth above | most |", "|" + "---|" * 10] + lines + [""]


def predicted_table(results):
    """What the model says, apart from what was timed; and why where it says that a case takes longer than cuTENSOR took."""
    rows = [r for r in results if r["bench"] == "contract-predicted"]
    if not rows:
        return []
    lines = ["Contractions as predicted without a device (none of these was timed; the copy rate that the model takes, limits and others' times are of the device that is named; planning and compilation, by one thread beside other work, are timed), share of the roofline, and what others took over the prediction:", ""]
    lines += ["| set | type | limits of | cases | kernels that spill | planned in (median) | a kernel compiled in (median) | worst | median | geometric mean | over | worst | median | geometric mean |", "|" + "---|" * 14]
    rows.sort(key=lambda r: (r["set"], r["dtype"], limits_of(r)))
    for r in rows:
        took = " | ".join(f"{r[key]['median']:.3g} ms" if key in r else "-" for key in ("plan_ms", "compile_ms"))
        own = " | ".join(f"{r['summary'][key]:.2f}" for key in ("min", "median", "geomean"))
        spilled = sum(c["spill_bytes"] > 0 for c in r["cases"])
        for name, s in r["speed_over"].items() or [("-", None)]:
            over = " | ".join(f"{s[key]:.2f}" for key in ("min", "median", "geomean")) if s else "- | - | -"
            lines.append(f"| {r['set']} | {r['dtype']} | {limits_of(r)} | {len(r['cases'])} | {spilled} | {took} | {own} | {PEERS.get(name, name)} | {over} |")
    lines.append("")
    lines += over_timed_table(rows)
    slow = [(r, c) for r in rows for c in r["cases"] if c["predicted_ms"] > 0.95 * c["peers"].get("cutensor", float("inf"))]
    if slow:
        lines += [f"{len(slow)} predictions are above 0.95 of what cuTENSOR took. What their longest kernels are bound by, by the model:", ""]
        lines += ["| bound by | cases | predicted over cuTENSOR, worst | geometric mean | for example |", "|" + "---|" * 5]
        bound = {}
        for r, c in slow:
            found = re.match(r"bound by ([\w ]+?) \(", c["reason"])
            bound.setdefault(found.group(1) if found else "not told", []).append((c["predicted_ms"] / c["peers"]["cutensor"], r, c))
        for name, those in sorted(bound.items(), key=lambda item: -len(item[1])):
            ratios = [ratio for ratio, _, _ in those]
            ratio, r, c = max(those, key=lambda each: each[0])
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines.append(f"| {BOUND.get(name, name)} | {len(those)} | {ratio:.2f} | {mean:.2f} | {c['id']} {r['dtype']} {limits_of(r)}: {c['plan'].split(';')[0]} |")
        lines += ["", "Which they are, each with what is predicted over what cuTENSOR took:", ""]
        for name, those in sorted(bound.items(), key=lambda item: -len(item[1])):
            named = {}
            for ratio, r, c in sorted(those, key=lambda each: -each[0]):
                named.setdefault(f"{r['set']} {r['dtype']} {limits_of(r)}", []).append(f"{c['id'].removeprefix('tccg_')} {ratio:.2f}")
            lines += [f"- {name}, {of}: {', '.join(cases)}" for of, cases in sorted(named.items())]
        lines.append("")
    return lines


# The model's parts in words.
BOUND = {"memory": "memory", "L2": "bytes through the second cache: tiles are too small for how often operands are read again",
         "products": "products: padding of ragged tiles, and waves that are not full",
         "shared": "shared memory: operands whose neighbours lie along another axis than the tile's rows are copied one by one",
         "issue": "issue of instructions", "stores": "stores of results",
         "alone": "blocks that wait with nothing beside them: latency of memory, barriers, a first and a last round"}


def headlines(read):
    """The README's rows: what, where, the figure, and the file that it is from."""
    lines = ["| what | where | figure (worst case) | file in [bench/results](bench/results) |", "|---|---|---|---|"]
    for stem, what, figure in HEADLINES:
        for name, r in read:
            if name == stem:
                lines.append(f"| {what.format(cases=len(r['cases']))} | {r['device'].split(',')[0].removeprefix('NVIDIA ')} | {figure(r)} | `{stem}` |")
    return "\n".join(lines) + "\n"


def over(result, peer, title):
    s = result.get("over_" + peer) or result["speed_over"][peer]
    return f"{s['geomean']:.2f}x {title} ({s['min']:.2f}x)"


def share(result):
    return f"{result['summary']['median']:.2f} of a copy ({result['summary']['min']:.2f})"


def against(case):
    """What Ricci took of a case, and how many times that the others did."""
    return f"{case['ms']:.2f} ms, " + ", ".join(f"{ms / case['ms']:.1f}x {name.split('_')[0]}" for name, ms in case["peers"].items())


HEADLINES = [
    ("permute-ttc57-f32-h200", "57 permutations, f32", lambda r: share(r) + ", " + over(r, "cutensor", "cuTENSOR")),
    ("permute-ttc57-f32-intel-xeon-x2", "57 permutations, f32, 2 threads", lambda r: over(r, "hptt_measured", "HPTT, measured")),
    ("contract-tccg48-f64-intel-xeon-x2", "48 contractions, f64, 2 threads", lambda r: over(r, "tblis", "TBLIS")),
    ("four_index-h2o_ccpvdz-f64-intel-xeon-x2", "four indices of water", lambda r: against(r["cases"][0])),
    ("contract-tccg48-f64-h200", "48 contractions, f64", lambda r: over(r, "cutensor", "cuTENSOR's best")),
    ("contract-talsh300-f64-h200", "150 random contractions, f64", lambda r: over(r, "cutensor", "cuTENSOR's best")),
    ("run-everyday_f32-h200", "{cases} everyday programs, f32", lambda r: over(r, "torch", "PyTorch")),
    ("run-ccsd_t_18_size_c-h200", "18 contractions of triples in one, f64", lambda r: f"{r['cases'][0]['ms']:.2f} ms, {r['speed_over']['cutensor']['geomean']:.1f}x cuTENSOR one by one"),
    ("run-count_pairs_2e36-h200", "2^36 pairs of many-body states", lambda r: f"{r['cases'][0]['ms']:.0f} ms"),
]


def four_index_table(results):
    lines = []
    for r in results:
        if r["bench"] != "four_index":
            continue
        versions = ", ".join(f"{name} {version}" for name, version in r["versions"].items())
        lines += [f"Four-index transformation of the integrals of {r['set']}, {r['dtype']}, {r['threads']} threads of {r['device']}, least times ({versions}):", ""]
        lines += [f"- `{case['spec']}`, {case['extents']}: {against(case)}" for case in r["cases"]] + [""]
    return lines


def einsum_table(results):
    rows = [r for r in results if r["bench"] == "einsum"]
    if not rows:
        return []
    lines = ["Einsums, speed over others (1 is as fast); plans by the model, or measured where the file's command says so. Networks have three to eight small operands: what torch.einsum does on the host for each pair decides there, so that the rows launched one by one say more:", ""]
    lines += ["| set | type | device | over | worst | median | geometric mean |", "|" + "---|" * 7]
    for r in sorted(rows, key=lambda r: (r["set"], r["dtype"], r["device"])):
        for name, s in r["speed_over"].items():
            peer = PEERS.get(name, name)
            lines.append(f"| {r['set']} | {r['dtype']} | {r['device']} | {peer} | {s['min']:.2f} | {s['median']:.2f} | {s['geomean']:.2f} |")
    return lines + [""]


def counts_pairs(result):
    return result["set"].startswith("count_pairs")


def counting_table(results):
    """Programs over all pairs of states i and j: pairs per second, of 64 single-particle states and as many particles as p."""
    rows = [r for r in results if r["bench"] == "run" and counts_pairs(r)]
    if not rows:
        return []
    lines = ["Pairs of many-body states counted:", ""]
    lines += ["| program | device | states | particles | ms | pairs/s |", "|" + "---|" * 6]
    for r in rows:
        extents = {name: int(extent) for name, extent in re.findall(r"--extent (\w+)=(\d+)", r["command"])}
        for c in r["cases"]:
            pairs = extents["i"] * extents["j"] / c["ms"] * 1e3
            lines.append(
                f"| {c['id']} | {r['device']} | {extents['i']} x {extents['j']} | {extents['p']} | {c['ms']:.1f} | {pairs:.2g} |"
            )
    return lines + [""]


def is_everyday(result):
    return result["set"].startswith("everyday_")


def everyday_table(results):
    """Programs of a statement or a few beside PyTorch: few words of many."""
    rows = [r for r in results if r["bench"] == "run" and is_everyday(r)]
    if not rows:
        return []
    lines = ["Programs of a statement or a few ([bench/everyday.py](../bench/everyday.py)), share of a copy of the bytes that they must move, and speed over PyTorch (1 is as fast):", ""]
    lines += ["| type | device | programs | share, median | over PyTorch, worst | median | geometric mean | slower than PyTorch |", "|" + "---|" * 8]
    for r in sorted(rows, key=lambda r: (r["device"], r["dtype"])):
        s = r["speed_over"]["torch"]
        ratios = sorted((c["peers"]["torch"] / c["ms"], c["id"].rsplit("_", 1)[0] if c["id"].endswith(r["dtype"]) else c["id"]) for c in r["cases"])
        slower = ", ".join(f"{name} {ratio:.2f}" for ratio, name in ratios if ratio < 0.95)
        lines.append(f"| {r['dtype']} | {r['device']} | {len(r['cases'])} | {r['summary']['median']:.2f} | {s['min']:.2f} | {s['median']:.2f} | {s['geomean']:.2f} | {slower or '-'} |")
    return lines + [""]


def program_table(results):
    rows = [r for r in results if r["bench"] == "run" and not counts_pairs(r) and not is_everyday(r)]
    if not rows:
        return []
    lines = [
        "Programs, share of a copy of the bytes that they must move or, where one was timed, of a large matrix product, whichever is",
        "larger; beside the same products one by one by another library in the same run:",
        "",
    ]
    lines += ["| set | program | device | ms | GB/s | share | GF/s | over one by one |", "|" + "---|" * 8]
    for r in sorted(rows, key=lambda r: (r["device"], r["set"])):
        for c in r["cases"]:
            over = ", ".join(f"{ms / c['ms']:.2f}x {name}" for name, ms in c["peers"].items()) or "-"
            lines.append(
                f"| {r['set']} | {c['id']} | {r['device']} | {c['ms']:.3f} | {c['GBs']:.0f} | {c['fraction']:.2f} | {c['GFs']:.0f} | {over} |"
            )
    return lines + [""]


def of_all_ranks(cases):
    """Of cases that differ by their rank, the slowest."""
    slowest = {}
    for case in cases:
        what, _, rank = case["what"].partition(", rank ")
        if rank:
            what += ", at worst of all ranks"
        if what not in slowest or case["value"] > slowest[what]["value"]:
            slowest[what] = {**case, "what": what}
    return slowest.values()


LATENCIES = {"latency": "Latency", "python_calls": "Calls from Python, beyond a loop that does nothing,"}


def latency_table(results):
    lines = []
    for r in results:
        if r["bench"] not in LATENCIES:
            continue
        lines += [f"{LATENCIES[r['bench']]} on {r['device']}:", "", "| what | target | measured |", "|---|---|---|"]
        for case in of_all_ranks(r["cases"]):
            target = case.get("target")
            if target is not None or "Ricci's part" in case["what"] or r["bench"] == "python_calls":
                wanted = "" if target is None else f"{target:g} {case['unit']}"
                lines.append(f"| {case['what']} | {wanted} | {case['value']:.3g} {case['unit']} |")
        lines.append("")
    return lines


def sweep_table(results):
    lines = []
    for r in results:
        if r["bench"] != "sweep":
            continue
        first, text = "size", lambda row: plots.size_text(row["size"])
        what = "of one size after the other"
        if plots.by_threads(r):
            first, text = "threads", lambda row: str(row["threads"])
            what = f"of {plots.size_text(r['rounds'][0]['size'])} with ever more threads"
        lines += [f"Permutations {what} ({r['set']}, {r['dtype']}, {r['device']}), GB/s read and written:", ""]
        lines += [f"| {first} | copy | median of the cases | worst | best |", "|" + "---|" * 5]
        for row in r["rounds"]:
            rates = " | ".join(f"{row[key]:.0f}" for key in ("copy_GBs", "median_GBs", "min_GBs", "max_GBs"))
            lines.append(f"| {text(row)} | {rates} |")
        lines.append("")
    return lines


def plot_lines(drawn):
    if not drawn:
        return []
    return [f"Bandwidth against rank, how the shares of the copy are distributed, and arithmetic of contractions on a GPU against its intensity, set by set: [plots](plots).", ""]


def compare_table(results):
    """Builds timed in turns: how many times as fast the newer one is."""
    rows = [r for r in results if r["bench"] == "compare"]
    if not rows:
        return []
    lines = ["Two builds in turns (`bench/compare.py`), how many times as fast the newer one is, by the best and by the median of the rounds; sets that stand twice had some of their cases timed again:", ""]
    lines += ["| set | type | device | builds | cases | rounds | best: geometric mean | worst | median: geometric mean | worst |", "|" + "---|" * 10]
    for r in sorted(rows, key=lambda r: (r["set"], r["dtype"], -len(r["cases"]))):
        ratios = []
        for key in "ratio", "ratio_median":
            worst = min(r["cases"], key=lambda case: case[key])
            ratios += [f"{r[f'summary_{key}']['geomean']:.3f}", f"{worst[key]:.3f} ({worst['id']})"]
        lines.append(f"| {r['set']} | {r['dtype']} | {r['device']} | {r['before']}, {r['commit']} | {len(r['cases'])} | {r['rounds']} | " + " | ".join(ratios) + " |")
    return lines + [""]


def waves_table(results):
    """What stream-K could save at most, from measured times and the blocks of each launch."""
    rows = [r for r in results if r["bench"] == "waves"]
    if not rows:
        return []
    lines = ["Blocks of contractions on a GPU come in waves, of which the last one is seldom full. Times as fast that cases of one kernel would be at most if all were, which bounds what stream-K could save beside parts of long sums (`bench/waves.py`):", ""]
    lines += ["| set | type | device | cases | geometric mean | most |", "|" + "---|" * 6]
    for r in sorted(rows, key=lambda r: (r["set"], r["dtype"])):
        most = max(r["cases"], key=lambda case: case["most"])
        lines.append(f"| {r['set']} | {r['dtype']} | {r['device']} | {len(r['cases'])} | {r['geomean']:.3f} | {most['most']:.2f} ({most['id']}, {most['blocks']} blocks) |")
    return lines + [""]


def section(read, drawn):
    results = [result for _, result in read]
    lines = permute_table(results) + sweep_table(results) + plot_lines(drawn) + contract_table(results) + cold_table(results) + slow_table(results) + predicted_table(results) + waves_table(results) + einsum_table(results) + four_index_table(results) + everyday_table(results) + program_table(results) + counting_table(results) + compare_table(results) + latency_table(results)
    lines.append("Each row is a file in [bench/results](../bench/results), with device, date, commit and command.")
    return "\n".join(lines) + "\n"


def read_result(file):
    result = json.loads(file.read_text(encoding="utf-8"))
    for part, processor in PROCESSORS.items():
        if part in file.stem:
            result["device"] = f"{processor}, {result['device']}"
    return result


def main():
    files = sorted((ROOT / "bench/results").glob("*.json"))
    read = [(file.stem, read_result(file)) for file in files]
    drawn = list(plots.plots(read))
    readme, document = ROOT / "README.md", ROOT / "docs/results.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = {readme: before + BEGIN + headlines(read) + END + after, document: TOP + section(read, drawn)}
    folder = ROOT / PLOTS
    there = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.svg")}
    svgs = {name: svg for name, _, svg in drawn}
    if "--check" in sys.argv[1:]:
        for file, lines in wanted.items():
            if not file.exists() or file.read_text(encoding="utf-8") != lines:
                sys.exit(f"{file.relative_to(ROOT)} does not say what bench/results says; run bench/report.py")
        if there != svgs:
            sys.exit("docs/plots does not show what bench/results says; run bench/report.py")
        return
    for file, lines in wanted.items():
        file.write_text(lines, encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - svgs.keys():
        (folder / name).unlink()
    for name, svg in svgs.items():
        (folder / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()

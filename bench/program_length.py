#!/usr/bin/env python3
"""Times the compilation of programs of growing length, and says whether it grows as the program does.

usage: bench/program_length.py RICCI [--nodes 50,500,5000] [--target sm_90] [--repeat 3] [--json FILE] [--commit HASH]

One row per kind of program and length: distinct values, kernels, milliseconds of the plan and of the compiler, and
microseconds per value. RICCI is the command line program; every compilation begins with an empty cache.
"""
import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

FIELD = "grid x = 1000\ninput v() : f64 on x\noutput y() : f64 on x\ny() = v()\n"
LOOPS = "index i = 1000\ninput x(i) : f64\ninput z(i) : f64\noutput y(i) : f64\n"


def doublings(nodes):
    """Each value is used twice: as a tree it would have 2^nodes parts."""
    return FIELD + "y() = y() + y()\n" * nodes


def squares(nodes):
    return FIELD + "y() = y()*y() + v()\n" * (nodes // 2)


def sines(nodes):
    return FIELD + "y() = sin(y())*v()\n" * (nodes // 2)


def products(nodes):
    terms = [f"x(i)*{k}.5*z(i)" if k % 2 else f"z(i)*{k}.25" for k in range(nodes * 2 // 5)]
    return LOOPS + "y(i) = " + " + ".join(terms) + "\n"


def outputs(nodes):
    """Many results that share what they are made of, each with a component of its own."""
    text = "grid x = 1000\nindex a b = 4\ninput u(4, 4) : f64 on x\noutput w(4, 4) : f64 on x\n"
    text += "local l(4, 4) : f64 on x\nl(a,b) = u(a,b)\n"
    statement = "l(a,b) = 0.5*l(a,b) + u(b,a)\n"
    return text + statement * max(nodes // 32 - 1, 1) + "w(a,b) = l(a,b)\n"


KINDS = {"doublings": doublings, "squares": squares, "sines": sines, "products": products, "components": outputs}


def compiled(ricci, text, target):
    """The plan of the program, as `ricci show --json` has it."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.ricci"
        program.write_text(text)
        command = [ricci, "show", str(program), "--plan", "--json"] + (["--target", target] if target else [])
        answer = subprocess.run(command, env={"RICCI_CACHE_DIR": folder + "/cache", "PATH": "/usr/bin:/bin"},
                                capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(f"{' '.join(command)}: {answer.stderr[:500]}")
    return json.loads(answer.stdout)["plan"]


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ricci")
    parser.add_argument("--nodes", default="50,100,200,500,1000,2000,5000")
    parser.add_argument("--target", help="sm_90, ...: for a GPU, which need not be there; else for this CPU")
    parser.add_argument("--repeat", type=int, default=3, help="the least time of so many compilations")
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    cases = []
    print(f"{'kind':<11} {'values':>6} {'kernels':>7} {'plan ms':>9} {'compile ms':>10} {'us a value':>10}")
    for kind, make in KINDS.items():
        for nodes in [int(n) for n in options.nodes.split(",")]:
            plans = [compiled(options.ricci, make(nodes), options.target) for _ in range(options.repeat)]
            plan_ms = min(plan["plan_ms"] + plan["generate_ms"] for plan in plans)
            compile_ms = min(plan["compile_ms"] for plan in plans)
            each = 1000 * (plan_ms + compile_ms) / nodes
            cases.append({"id": f"{kind}-{nodes}", "kind": kind, "values": nodes, "kernels": plans[0]["steps"],
                          "plan_ms": round(plan_ms, 2), "compile_ms": round(compile_ms, 2),
                          "us_per_value": round(each, 1)})
            print(f"{kind:<11} {nodes:>6} {plans[0]['steps']:>7} {plan_ms:>9.1f} {compile_ms:>10.1f} {each:>10.1f}",
                  flush=True)
    # Linear or less: ten times as many values take no more than ten times as long, and a half for noise.
    worst = 0.0
    for kind in KINDS:
        mine = sorted((case for case in cases if case["kind"] == kind), key=lambda case: case["values"])
        for small in mine:
            for large in mine:
                if large["values"] < 5 * small["values"] or small["values"] < 200:
                    continue
                worst = max(worst, large["us_per_value"] / small["us_per_value"])
    print(f"worst growth of the time per value, from 200 values on, over a factor of 5 or more: {worst:.2f}")
    if options.json:
        command = "bench/program_length.py ricci" + "".join(
            f" --{name} {value}" for name, value in (("nodes", options.nodes), ("target", options.target),
                                                     ("repeat", options.repeat)) if value)
        result = {"bench": "program_length", "device": options.target or cpu_name(), "host": cpu_name(),
                  "date": datetime.date.today().isoformat(), "commit": options.commit, "command": command,
                  "cases": cases, "summary": {"worst_growth": round(worst, 2)}}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times programs of a statement or a few (everyday_cases.py and others beside it) by Ricci and by PyTorch.

usage: bench/everyday.py RICCI_BENCH [--device gpu] [--dtype f32] [--cases NAME,...] [--threads 2] [--repeat 7]
                         [--output FILE] [--commit HASH]

RICCI_BENCH is build/release/bin/ricci-bench. What both compute is compared first, of small tensors, by `ricci`, which
lies beside it: in f64, c128 and i8, and for all types with --check. Then ricci-bench times all programs beside a copy, and PyTorch what it has for each. Medians count. With
--output the file of ricci-bench, in which PyTorch is a peer; --check compares alone.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import everyday_points  # noqa: F401  its cases
import everyday_steps  # noqa: F401
import everyday_types  # noqa: F401
import everyday_windows  # noqa: F401
import numpy
import torch

from doubles import median_ms
from everyday_cases import CASES
from join import summary

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "c128": torch.complex128,
    "c64": torch.complex64,
    "i8": torch.int8,
    "i32": torch.int32,
    "i64": torch.int64,
}
EXACT = {"f32": "f64", "bf16": "f64", "c64": "c128"}  # in which results are compared
SMALL = 12  # extents of what is compared, at most


def operand(shape, dtype, device):
    if dtype == "i8":
        return torch.randint(-4, 4, shape, dtype=TYPES[dtype], device=device)
    made = torch.rand(shape, dtype=TYPES[dtype], device=device)
    return made - (0.5 + 0.5j if made.is_complex() else 0.5)


def compare(case, dtype, ricci, device, folder):
    """The largest difference of the results of small tensors, over the largest of them."""
    dtype = EXACT.get(dtype, dtype)
    extents = case.extents(SMALL)
    inputs, outputs, _ = case.parts(dtype, extents)
    values = [operand(shape, of, "cpu") for _, shape, of, _ in inputs]
    program = folder / "small.ricci"
    program.write_text(case.text(dtype, extents))
    command = [ricci, "run", program, "--device", device]
    for (name, *_), value in zip(inputs, values):
        numpy.save(folder / f"{name}.npy", value.numpy())
        command.append(f"{name}={folder / name}.npy")
    for name, *_ in outputs:
        command += ["-o", f"{name}={folder / ('out_' + name)}.npy"]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    wanted = case.function(*values)
    worst = 0.0
    for (name, *_), want in zip(outputs, wanted if isinstance(wanted, tuple) else (wanted,)):
        found = torch.from_numpy(numpy.load(folder / f"out_{name}.npy"))
        scale = max(float(want.abs().max()), 1e-300)
        worst = max(worst, float((found.reshape(want.shape) - want).abs().max()) / scale)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ricci_bench")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="gpu")
    parser.add_argument("--dtype", choices=["f64", "f32", "bf16", "c128", "c64", "i8"], default="f32")
    parser.add_argument("--cases", help="names with commas between them; all without it")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--output")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    wanted = options.cases.split(",") if options.cases else None
    cases = [case for case in CASES if options.dtype in case.types and (not wanted or case.name in wanted)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in cases if options.check or options.dtype not in EXACT else []:
            worst = compare(
                case, options.dtype, pathlib.Path(options.ricci_bench).resolve().parent / "ricci", options.device, folder
            )
            if not worst < 1e-12:
                sys.exit(f"{case.name}: the results differ by {worst:.1e} of the largest")
        if options.check:
            print(f"{len(cases)} programs: the same results")
            return
        files = [folder / f"{case.name}.ricci" for case in cases]
        for case, file in zip(cases, files):
            file.write_text(case.text(options.dtype, case.extents()))
        out = folder / "out.json"
        command = [
            options.ricci_bench,
            "run",
            *files,
            "--device",
            options.device,
            "--repeat",
            options.repeat,
            "--set",
            f"everyday_{options.dtype}",
            "--commit",
            options.commit,
            "--output",
            out,
        ]
        if options.device == "cpu":
            command += ["--threads", options.threads]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        made = json.loads(out.read_text())
    device = {"gpu": "cuda", "cpu": "cpu"}[options.device]
    for case, row in zip(cases, made["cases"]):
        inputs, _, _ = case.parts(options.dtype, case.extents())
        values = [operand(shape, of, device) for _, shape, of, _ in inputs]
        row["peers"] = {"torch": median_ms(lambda: case.function(*values), options.device, options.repeat)}
        print(
            f"{row['id']:16} {row['ms']:9.3f} ms  {row['fraction']:.2f} of a copy  {row['peers']['torch'] / row['ms']:6.2f} x torch"
        )
        del values
        if device == "cuda":
            torch.cuda.empty_cache()
    made["speed_over"] = {"torch": summary([row["peers"]["torch"] / row["ms"] for row in made["cases"]])}
    made["dtype"] = options.dtype
    command = f"bench/everyday.py RICCI_BENCH --device {options.device} --dtype {options.dtype} --repeat {options.repeat}"
    command += f" --threads {options.threads}" if options.device == "cpu" else ""
    made["command"] = command + (f" --cases {options.cases}" if options.cases else "")
    made["versions"] = {"torch": torch.__version__}
    print({key: round(value, 2) for key, value in made["speed_over"]["torch"].items()})
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times a step of the coupled cluster doubles equations (examples/programs/chemistry/ccd.ricci) by Ricci and by PyTorch.

usage: bench/doubles.py RICCI_BENCH [--device gpu] [--dtype f64] [--occupied 32] [--virtual 96] [--threads 2] [--repeat 7]
                        [--set NAME] [--output FILE] [--commit HASH]

RICCI_BENCH is build/release/bin/ricci-bench, which times the program beside a copy and a large matrix product, then
PyTorch computes the same of random tensors: the same intermediates, each product by torch.einsum. Medians count. What
both compute is compared first, of small tensors. With --output the file of ricci-bench, in which PyTorch is a peer.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "examples/programs/chemistry/ccd.ricci"
TYPES = {"f64": torch.float64, "f32": torch.float32}


def tensors(occupied, virtual, dtype, device):
    sizes = {"o": occupied, "v": virtual}
    made = {name: torch.rand([sizes[part] for part in name], dtype=dtype, device=device) - 0.5
            for name in ("oooo", "oovv", "ovvo", "vvvv")}
    made["t"] = torch.rand(virtual, virtual, occupied, occupied, dtype=dtype, device=device) - 0.5
    made["eo"] = -1 - torch.rand(occupied, dtype=dtype, device=device)
    made["ev"] = 1 + torch.rand(virtual, dtype=dtype, device=device)
    return made


def step(oooo, oovv, ovvo, vvvv, t, eo, ev):
    """The statements of the program, one after the other."""
    e = torch.einsum
    energy = 0.25 * e("mnef,efmn->", oovv, t)
    fv = -0.5 * e("mnef,bfmn->be", oovv, t)
    fo = 0.5 * e("mnef,efjn->mj", oovv, t)
    wo = oooo + 0.5 * e("mnef,efij->mnij", oovv, t)
    wr = ovvo - 0.5 * e("mnef,fbjn->mbej", oovv, t)
    x = e("be,aeij->abij", fv, t)
    y = e("mj,abim->abij", fo, t)
    z = e("aeim,mbej->abij", t, wr)
    r = oovv.permute(2, 3, 0, 1) + 0.5 * e("abef,efij->abij", vvvv, t) + 0.5 * e("mnij,abmn->abij", wo, t)
    r = r + x - x.transpose(0, 1) - y + y.transpose(2, 3)
    z = z - z.transpose(0, 1)
    r = r + z - z.transpose(2, 3)
    return r / (eo[:, None] + eo - ev[:, None, None, None] - ev[:, None, None]), energy


def compare(ricci_bench, device):
    """Both of small tensors, in f64: `ricci` lies beside ricci-bench."""
    small = tensors(6, 10, torch.float64, "cpu")
    want = step(**small)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: pathlib.Path(folder) / f"{name}.npy" for name in [*small, "tn", "E"]}
        for name, values in small.items():
            numpy.save(files[name], values.numpy())
        command = [str(pathlib.Path(ricci_bench).parent / "ricci"), "run", str(PROGRAM), "--device", device]
        command += [f"{name}={files[name]}" for name in small]
        command += [word for name in ("tn", "E") for word in ("-o", f"{name}={files[name]}")]
        subprocess.run(command, check=True, capture_output=True)
        for name, wanted in zip(("tn", "E"), want):
            error = numpy.abs(numpy.load(files[name]) - wanted.numpy()).max()
            if not error <= 1e-12 * wanted.abs().max():
                sys.exit(f"{name}: the results differ by {error}")


def median_ms(call, device, repeat):
    call()
    times = []
    for _ in range(repeat):
        if device == "gpu":
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        else:
            start = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ricci_bench")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="gpu")
    parser.add_argument("--dtype", choices=TYPES, default="f64")
    parser.add_argument("--occupied", type=int, default=32)
    parser.add_argument("--virtual", type=int, default=96)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--set", default="doubles")
    parser.add_argument("--output")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    compare(options.ricci_bench, options.device)
    with tempfile.TemporaryDirectory() as folder:
        program, out = pathlib.Path(folder) / "ccd.ricci", pathlib.Path(folder) / "out.json"
        program.write_text(PROGRAM.read_text().replace(": f64", f": {options.dtype}"))
        command = [options.ricci_bench, "run", str(program), "--device", options.device, "--product", options.dtype]
        for names, extent in (("ijmn", options.occupied), ("abef", options.virtual)):
            command += [word for name in names for word in ("--extent", f"{name}={extent}")]
        command += ["--repeat", str(options.repeat), "--set", options.set, "--commit", options.commit, "--output", str(out)]
        if options.device == "cpu":
            command += ["--threads", str(options.threads)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        made = json.loads(out.read_text())
    device = {"gpu": "cuda", "cpu": "cpu"}[options.device]
    operands = tensors(options.occupied, options.virtual, TYPES[options.dtype], device)
    torch.backends.cuda.matmul.allow_tf32 = False
    case = made["cases"][0]
    case["peers"] = {"torch": median_ms(lambda: step(**operands), options.device, options.repeat)}
    ratio = case["peers"]["torch"] / case["ms"]
    made["speed_over"] = {"torch": dict.fromkeys(("min", "p10", "median", "geomean", "max"), ratio)}
    made["dtype"] = options.dtype
    made["command"] = (f"bench/doubles.py RICCI_BENCH --device {options.device} --dtype {options.dtype} "
                       f"--occupied {options.occupied} --virtual {options.virtual}")
    made["versions"] = {"torch": torch.__version__}
    print(f"ricci {case['ms']:.3f} ms, {case['fraction']:.2f} of the roofline, torch {case['peers']['torch']:.3f} ms")
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()

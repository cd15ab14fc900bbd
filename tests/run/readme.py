#!/usr/bin/env python3
"""Holds the README to the program: the kernel it shows is the one that is made, its command on water works, its figures are
those of bench/results.

usage: readme.py SOURCE RICCI
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

source, ricci = pathlib.Path(sys.argv[1]), sys.argv[2]
text = (source / "README.md").read_text(encoding="utf-8")

command = re.search(r"`ricci (show \"[^`]*)` prints this", text).group(1)
arguments = shlex.split(command)
made = subprocess.run([ricci, *arguments], capture_output=True, text=True, check=True).stdout
made = made[made.index("// " + re.search(r"^// (\w+)", re.search(r"^```cuda\n(.*?)^```", text, re.S | re.M).group(1)).group(1)):]
shown = re.search(r"^```cuda\n(.*?)^```", text, re.S | re.M).group(1)
if shown != made:
    sys.exit(f"README.md shows another kernel than `ricci {command}` makes:\n{made}")

# The command on water's integrals, in the folder of these.
folder, command = re.search(r"In `([^`]*)`, four indices:\n`ricci (einsum [^`]*)`", text).groups()
arguments = shlex.split(command)
with tempfile.TemporaryDirectory() as results:
    arguments[-1] = str(pathlib.Path(results) / arguments[-1])
    done = subprocess.run([ricci, *arguments], cwd=source / folder, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not pathlib.Path(arguments[-1]).exists():
        sys.exit(f"`ricci {command}` of README.md fails:\n{done.stdout}{done.stderr}")

lines = text.splitlines()
if len(lines) > 150:
    sys.exit(f"README.md has {len(lines)} lines; 150 are what is read to the end")
wide = [k for k, line in enumerate(lines, 1) if len(line) > 120]
if wide:
    sys.exit(f"lines of README.md with more than 120 columns: {wide}")

report = subprocess.run([sys.executable, source / "bench/report.py", "--check"], capture_output=True, text=True, check=False)
if report.returncode != 0:
    sys.exit(report.stderr)

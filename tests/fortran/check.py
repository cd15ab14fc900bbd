#!/usr/bin/env python3
"""Compiles a program with the Fortran module, as a user would, and compares what it prints.

usage: check.py COMPILER SOURCE WORK LIBRARY PROGRAM EXPECTED   EXPECTED: a text, or a Markdown file with it in a block

Ends with 77 where there is no COMPILER.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"$ {' '.join(map(str, command))}\n{done.stdout}status {done.returncode}")
    return done.stdout


def main():
    compiler, source, work, library, program, expected = sys.argv[1:]
    if not shutil.which(compiler):
        print("[SKIP] no Fortran compiler: apt-get install gfortran")
        sys.exit(77)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    folder = pathlib.Path(library).parent
    binary = pathlib.Path(work) / "program"
    # Optimised: what the compiler may assume of addresses that C keeps must hold.
    run(compiler, "-std=f2018", "-Wall", "-O2", "-J", work, pathlib.Path(source) / "interfaces/fortran/ricci.f90",
        pathlib.Path(source) / program, "-o", binary, library, f"-Wl,-rpath,{folder}")
    printed = run(binary)
    if expected.endswith(".md"):
        text = (pathlib.Path(source) / expected).read_text(encoding="utf-8")
        expected = re.search(r"^```\n\$ .*?\n(.*?)^```", text, re.S | re.M).group(1)
    if printed.strip() != expected.strip():
        sys.exit(f"printed:\n{printed}\nexpected:\n{expected}")


if __name__ == "__main__":
    main()

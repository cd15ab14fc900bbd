#!/usr/bin/env python3
"""The names that libricci.so exports, beside the list of them in abi.txt.

usage: abi.py LIBRARY LIST     RICCI_ACCEPT=1 writes the list anew

The list has the functions that are compiled into the library, a line each: the name as linkers see it, then as C++ says
it. What a header defines inline appears or not as the compiler likes, and is no promise; but it, too, is in ricci::v1,
and no member of an implementation class.
"""
import os
import pathlib
import re
import subprocess
import sys

HEAD = "# What libricci.so exports: tests/structure/abi.py. A line that goes breaks programs that were linked before.\n"


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted((line.split()[-1], line.split()[-2]) for line in lines.splitlines())


def demangled(names):
    run = subprocess.run(["c++filt"], input="\n".join(names), check=True, stdout=subprocess.PIPE, text=True)
    return dict(zip(names, run.stdout.splitlines()))


def main():
    library, path = sys.argv[1], pathlib.Path(sys.argv[2])
    symbols = exported(library)
    said = demangled([name for name, _ in symbols])
    found = [f"is in no namespace of the interface: {said[name]}" for name, _ in symbols
             if not re.match(r"ricci_|_ZNK?5ricci2v1|_ZT[ISV]N5ricci2v1", name)]
    found += [f"is an implementation's: {said[name]}" for name, _ in symbols if "4Impl" in name]
    functions = [name for name, kind in symbols if kind == "T"]
    if os.environ.get("RICCI_ACCEPT") == "1" and not found:
        path.write_text(HEAD + "".join(f"{name} {said[name]}\n" if name != said[name] else f"{name}\n" for name in functions))
    listed = [line.split()[0] for line in path.read_text().splitlines() if line and not line.startswith("#")]
    names = demangled(listed)
    found += [f"is listed and not exported: {names[name]}" for name in listed if name not in functions]
    found += [f"is exported and not listed (RICCI_ACCEPT=1 adds it): {said[name]}" for name in functions if name not in listed]
    print("\n".join(found) if found else f"{len(functions)} functions, as listed")
    return 1 if found or not functions else 0


if __name__ == "__main__":
    sys.exit(main())

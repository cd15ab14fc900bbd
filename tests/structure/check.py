#!/usr/bin/env python3
"""What the folders promise, checked on the text of the sources.

usage: check.py includes|length|rooms|format|headers ROOT [BUILD CXX CC]

includes  #include "..." between the rooms of src/ goes one way: runtime -> lower, plan, codegen, jit, cache; lower -> frontend -> ir;
          plan, codegen, jit, cache -> ir; inside them as ALLOWED says; examples/ and interfaces/ see public headers only, tools/ neither
          plan nor codegen; public headers see no header of src/, LLVM or CUDA
length    no source outgrows one room
rooms     the README of a folder of src/ or tools/, or of the one above it, names each of its sources
format    clang-format 19 would change nothing
headers   every public header compiles alone, without a warning, ricci.h as C99 and as C++
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MAX_LINES = 600
SOURCE_SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".c", ".py"}
FORMAT_SUFFIXES = {".cpp", ".hpp", ".h", ".c"}
FOLDERS = ["include", "src", "tools", "tests", "bench", "examples", "python", "interfaces"]

# The rooms of src/, and which rooms each may include. A file belongs to the room with the longest name. Schedules are
# lists of directives; what those of permutations say as numbers (kernel/permute) is for that family alone.
IR = {"ir", "ir/passes", "ir/interpret"}
PLAN = {"plan", "plan/models", "plan/enumerate", "plan/tuning"}
ALLOWED = {
    "ir": {"ir"},
    "ir/passes": {"ir/passes", "ir"},
    "ir/interpret": {"ir/interpret", "ir"},
    "kernel": {"kernel", "kernel/permute", "ir", "ir/passes"},
    "kernel/permute": {"kernel/permute", "kernel", "ir"},
    "kernel/interpret": {"kernel/interpret", "kernel", "ir", "ir/interpret"},
    "frontend": {"frontend", "ir", "ir/interpret"},
    "lower": {"lower", "frontend", "ir"},
    "plan/models": {"plan/models", "kernel", "kernel/permute", "ir"},
    "plan/tuning": {"plan/tuning", "ir"},
    "plan/enumerate": {"plan/enumerate", "plan/models", "plan", "kernel", "kernel/permute", "ir"},
    "plan": {"plan", "plan/models", "plan/tuning", "kernel", "ir"},
    "codegen": {"codegen", "kernel", "ir"},
    "json": {"json"},
    "jit": {"jit", "ir"},
    "cache": {"cache", "ir"},
    "dist": {"dist"},  # over the public headers, as a library of its own
    "runtime": {"runtime", "codegen", "kernel", "jit", "cache", "json", "lower", "frontend"} | PLAN | IR,
}
# The same of the rooms of tools/; all but the benches are what `ricci` is made of.
TOOLS = {
    "io": {"io"},
    "report": {"report"},
    "peers": {"peers"},
    "cli": {"cli", "io", "report"},
    "bench": {"bench", "peers", "cli", "io", "report"},
}

# What the benches compare with schedules and models of others: it looks into the planner's.
APPARATUS = {"mwp_cwp": {"plan"}, "baselines": {"plan"}}


def room(path):
    """The room of a path under src/: "ir/passes" of "ir/passes/split.hpp", None of what is in none."""
    parts = path.split("/")[:-1]
    for count in range(len(parts), 0, -1):
        if "/".join(parts[:count]) in ALLOWED:
            return "/".join(parts[:count])
    return None


def sources(root, suffixes):
    """All sources but goldens, which are what Ricci writes and not what a person keeps in order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            if path.suffix in suffixes and path.is_file() and relative.parts[:2] != ("tests", "golden"):
                yield path, relative


def included(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match:
            yield number, match.group(1), match.group(2)


def check_includes(root):
    found = []
    seen = 0
    for path, relative in sources(root, {".cpp", ".hpp", ".h", ".c"}):
        top = relative.parts[0]
        for number, quote, name in included(path):
            seen += 1
            where = f"{relative}:{number}: includes {name}"
            folder = name.split("/")[0]
            inside = room("/".join(relative.parts[1:])) if top == "src" else None
            if top == "src" and inside is None:
                found.append(f"{relative}: in no room of src/ that ALLOWED knows")
            elif top == "src" and room(name) is not None and room(name) not in ALLOWED[inside]:
                found.append(f"{where}: {inside} may include {', '.join(sorted(ALLOWED[inside]))}")
            if top in ("examples", "include", "interfaces") and folder in ALLOWED and (root / "src" / folder).is_dir():
                found.append(f"{where}: {top}/ sees public headers only")
            if top == "tools" and folder in TOOLS and folder not in TOOLS[relative.parts[1]]:
                found.append(f"{where}: {relative.parts[1]} may include {', '.join(sorted(TOOLS[relative.parts[1]]))}")
            if top == "tools" and folder in {"plan", "codegen"} - APPARATUS.get(relative.stem, set()):
                found.append(f"{where}: tools/ asks the runtime for plans and sources")
            if top == "include" and quote == "<" and re.match(r"(llvm|clang|cuda|nvrtc|fmt|nlohmann)", name):
                found.append(f"{where}: public headers need the standard library alone")
    if seen == 0:
        found.append("no #include found: is ROOT right?")
    return found


def check_length(root):
    found = []
    for path, relative in sources(root, SOURCE_SUFFIXES):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MAX_LINES:
            found.append(f"{relative}: {lines} lines, more than {MAX_LINES}; split it where the idea splits")
    return found


def check_rooms(root):
    found = []
    for path, relative in sources(root, {".cpp", ".hpp"}):
        if relative.parts[0] in ("src", "tools"):
            readme = next(folder / "README.md" for folder in path.parents if (folder / "README.md").is_file())
            if not re.search(rf"\b{path.stem}\b", readme.read_text(encoding="utf-8")):
                found.append(f"{relative}: {readme.relative_to(root)} does not name it")
    return found


def check_format(root):
    tool = shutil.which("clang-format-19")
    if not tool:
        print("[SKIP] clang-format-19 is not installed, and other versions disagree with it")
        sys.exit(77)
    files = [str(path) for path, _ in sources(root, FORMAT_SUFFIXES)]
    count = len(os.sched_getaffinity(0))
    shares = [files[start::count] for start in range(count)]
    command = [tool, "--dry-run", "-Werror", "-ferror-limit=3"]
    runs = [subprocess.Popen([*command, *share], stderr=subprocess.PIPE, text=True) for share in shares if share]
    said = [run.communicate()[1] for run in runs]
    if not any(run.returncode for run in runs):
        return []
    changed = sorted({line.split(":")[0] for text in said for line in text.splitlines() if "error:" in line})
    return [f"{pathlib.Path(file).relative_to(root)}: clang-format-19 -i {file}" for file in changed] or said


def check_headers(root, build, cxx, cc):
    found = []
    headers = sorted((root / "include/ricci").glob("*.h*")) + sorted((build / "include/ricci").glob("*.h*"))
    headers = [header for header in headers if header.suffix in (".h", ".hpp")]
    includes = ["-I", str(root / "include"), "-I", str(build / "include")]
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror", "-fsyntax-only"]
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            runs = [(cxx, "cpp", "-std=c++20")]
            if header.suffix == ".h":
                runs.append((cc, "c", "-std=c99"))
            for compiler, suffix, standard in runs:
                unit = pathlib.Path(folder) / f"alone.{suffix}"
                # Twice, for the guard; the declaration keeps the unit from being empty, which C forbids.
                unit.write_text(f'#include "ricci/{header.name}"\n' * 2 + "extern int nothing;\n")
                run = subprocess.run([compiler, standard, *warnings, *includes, str(unit)], stderr=subprocess.PIPE, text=True)
                if run.returncode:
                    found.append(f"{header.name} does not compile alone with {standard}:\n{run.stderr}")
    if len(headers) < 2:
        found.append("no public headers found: are ROOT and BUILD right?")
    return found


def main():
    what, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if what == "headers":
        found = check_headers(root, pathlib.Path(sys.argv[3]).resolve(), sys.argv[4], sys.argv[5])
    else:
        found = {"includes": check_includes, "length": check_length, "rooms": check_rooms, "format": check_format}[what](root)
    print("\n".join(found) if found else f"{what}: nothing to report")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Uses an installed Ricci as a stranger would.

usage: check.py prefix       BUILD PREFIX CMAKE         installs BUILD into an empty PREFIX
       check.py find_package SOURCE WORK PREFIX CMAKE   builds and runs tests/install/consumer through find_package
       check.py dist         SOURCE WORK PREFIX CMAKE MPIEXEC   docs/dist.md's program, on two ranks
       check.py pkg_config   SOURCE WORK PREFIX CXX     the README's first example through pkg-config
       check.py examples     SOURCE WORK PREFIX CMAKE   builds the examples against it and runs one
       check.py library      PREFIX                     what libricci.so shows and needs
       check.py tool         PREFIX                     the installed command line finds its plug-in
       check.py descriptions PREFIX                     shells find the completions, man the manual pages
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command, **environment):
    """Runs a command and returns its output, both streams; ends this program when it fails."""
    print("$", *command, flush=True)
    env = {**os.environ, **environment}
    done = subprocess.run([str(word) for word in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, flush=True)
    if done.returncode:
        sys.exit(f"status {done.returncode}")
    return done.stdout


def fresh(folder):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def library_folder(prefix):
    found = sorted(pathlib.Path(prefix).glob("lib*/**/libricci.so"))
    if len(found) != 1:
        sys.exit(f"one libricci.so expected below {prefix}, found {found}")
    return found[0].parent


def write_example(source, page, work):
    blocks = re.findall(r"^```cpp\n(.*?)^```", (source / page).read_text(encoding="utf-8"), re.S | re.M)
    programs = [block for block in blocks if "int main" in block]
    if not programs:
        sys.exit(f"{page} shows no C++ program")
    file = work / "example.cpp"
    file.write_text(programs[0], encoding="utf-8")
    return file


def expect_plugin_of(prefix, log):
    """The build tree is still there; a kernel compiled by its plug-in would prove nothing about the installation."""
    wanted = f"opened {os.path.realpath(library_folder(prefix))}/ricci/libricci-clang.so"
    opened = [line for line in log.splitlines() if "opened" in line and "libricci-clang.so" in line]
    real = [re.sub(r"opened (\S+)", lambda match: "opened " + os.path.realpath(match.group(1)), line) for line in opened]
    if not any(wanted in line for line in real):
        sys.exit(f"the log should say: {wanted}")


def check_prefix(build, prefix, cmake):
    fresh(prefix)
    run(cmake, "--install", build, "--prefix", prefix)


def check_find_package(source, work, prefix, cmake):
    source, work = pathlib.Path(source), fresh(work)
    example = write_example(source, "README.md", work)
    run(cmake, "-G", "Ninja", "-S", source / "tests/install/consumer", "-B", work / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DREADME_EXAMPLE={example}")
    run(cmake, "--build", work / "build")
    fresh_cache = {"RICCI_CACHE_DIR": str(work / "cache"), "RICCI_LOG": "compile"}
    expect_plugin_of(prefix, run(work / "build/first", **fresh_cache))
    if "from C: ok" not in run(work / "build/from_c", **fresh_cache):
        sys.exit("from_c did not end well")


def check_dist(source, work, prefix, cmake, mpiexec):
    source, work = pathlib.Path(source), fresh(work)
    run(cmake, "-G", "Ninja", "-S", source / "tests/install/consumer", "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DREADME_EXAMPLE={write_example(source, 'README.md', work)}", f"-DDIST_EXAMPLE={write_example(source, 'docs/dist.md', fresh(work / 'dist'))}")
    run(cmake, "--build", work / "build", "--target", "over_ranks")
    if "c[299][99] = 200" not in run(mpiexec, "-n", "2", work / "build/over_ranks", RICCI_CACHE_DIR=str(work / "cache")):
        sys.exit("the program of docs/dist.md did not end well")


def check_pkg_config(source, work, prefix, cxx):
    source, work = pathlib.Path(source), fresh(work)
    example = write_example(source, "README.md", work)
    folder = library_folder(prefix)
    flags = run("pkg-config", "--cflags", "--libs", "ricci", PKG_CONFIG_PATH=str(folder / "pkgconfig")).split()
    run(cxx, "-std=c++20", "-Wall", "-Wextra", "-Werror", example, "-o", work / "first", *flags)
    run(work / "first", LD_LIBRARY_PATH=str(folder), RICCI_CACHE_DIR=str(work / "cache"))


def check_examples(source, work, prefix, cmake):
    work = fresh(work)
    run(cmake, "-G", "Ninja", "-S", f"{source}/examples", "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0")  # they run for a moment
    run(cmake, "--build", work / "build")
    run(work / "build/bin/mp2", RICCI_CACHE_DIR=str(work / "cache"))


def check_library(prefix):
    library = library_folder(prefix) / "libricci.so"
    shown = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    strangers = [name for name in shown if not re.match(r"ricci_|_ZNK?5ricci2v1|_ZT[ISV]N5ricci2v1", name)]
    if strangers:
        sys.exit(f"libricci.so shows names that are not its interface: {strangers[:10]}")
    if not any(name.startswith("ricci_plan_permute") for name in shown):
        sys.exit("libricci.so does not show its C interface")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))
    heavy = [name for name in needed if re.match(r"lib(LLVM|clang|cuda|nvrtc|starpu|mpi)", name)]
    if heavy:
        sys.exit(f"libricci.so opens compilers and drivers when needed, and knows of no other machines; it must not link {heavy}")


def check_tool(prefix):
    log = run(f"{prefix}/bin/ricci", "show", "ab->ba", "a=5", "b=7", RICCI_LOG="compile",
              RICCI_CACHE_DIR=str(fresh(pathlib.Path(prefix).parent / "tool-cache")))
    expect_plugin_of(prefix, log)


def check_descriptions(prefix):
    share = pathlib.Path(prefix) / "share"
    for program in ("ricci", "ricci-bench"):
        command = f"{prefix}/bin/{program}"
        page = share / "man/man1" / f"{program}.1"
        for file, words in ((share / "bash-completion/completions" / program, ("completion", "bash")),
                            (share / "zsh/site-functions" / f"_{program}", ("completion", "zsh")), (page, ("manual",))):
            if file.read_text(encoding="utf-8") != run(command, *words):
                sys.exit(f"{file} is not what {program} says of itself")
        # As bash-completion loads it: by the command's name, when its first word is completed.
        script = f"""source {share}/bash-completion/completions/{program}
            read -r _ _ _ _ function name <<< "$(complete -p {program})"
            COMP_WORDS=("$name" man) COMP_CWORD=1
            "$function"
            echo "${{COMPREPLY[@]}}" """
        if run("bash", "-c", script).split() != ["manual"]:
            sys.exit(f"bash does not complete '{program} man'")
        if shutil.which("man") and shutil.which("lexgrog"):  # where manuals are left out, man says so and nothing else
            shown = run("man", "-M", share / "man", program, MANPAGER="cat", MANWIDTH="120", LC_ALL="C")
            missing = [word for word in ("NAME", "SYNOPSIS", "manual") if word not in shown]
            if missing:
                sys.exit(f"man {program} does not show {missing}")
            if shutil.which("groff") and (warnings := run("groff", "-man", "-ww", "-z", page)):
                sys.exit(f"groff warns of {page}: {warnings}")


if __name__ == "__main__":
    globals()[f"check_{sys.argv[1]}"](*sys.argv[2:])

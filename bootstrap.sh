#!/usr/bin/env bash
# Everything from a fresh Debian 12 or Ubuntu 24.04 to a running Ricci. Run it again at will: what is done is not redone.
#
#   ./bootstrap.sh demo               build the command line and permute the integrals of a water molecule
#   ./bootstrap.sh test [CTEST ARGS]  build everything and run the tests but the long random ones, or those that are asked
#                                     for, e.g. ./bootstrap.sh test -L unit, ./bootstrap.sh test -L deep
#   ./bootstrap.sh lint               check the layout (clang-format) and the habits (clang-tidy) of the sources
#
#   --preset NAME    a preset of CMakePresets.json: release (the default), dev, asan, gpu (CUDA alone, no LLVM), tidy (of lint)
#
# CUDA kernels need NVRTC, not a GPU: it is taken from CUDA_HOME or /usr/local/cuda, else fetched from PyPI into build/, as is
# nanobind, with which the Python package is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

NVRTC_WHEEL="nvidia-cuda-nvrtc==13.0.88"
NANOBIND_WHEEL="nanobind==3.1.0"

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' bootstrap.sh
  exit 2
}

say() { printf '%s\n' "$*"; }
fail() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 1
}

preset=
words=()
while (($#)); do
  case $1 in
    --preset) (($# > 1)) || usage; preset=$2; shift 2 ;;
    -h | --help) usage ;;
    *) words=("$@"); break ;;
  esac
done
((${#words[@]})) || usage
command=${words[0]}
rest=("${words[@]:1}")
case $command in demo | test | lint) ;; *) usage ;; esac
[[ -n $preset ]] || preset=$([[ $command == lint ]] && echo tidy || echo release)
build=build/$preset
logs=build/log
mkdir -p "$logs"

# quietly NAME COMMAND...: runs a step with its output in a log, shows a sign of life, and the end of the log if it fails.
quietly() {
  local name=$1 log=$logs/$preset-$1.log start=$SECONDS shown=$SECONDS status=0
  shift
  "$@" >"$log" 2>&1 </dev/null &
  local pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - shown >= 20)); then
      say "    ... $((SECONDS - start)) s: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
      shown=$SECONDS
    fi
  done
  wait "$pid" || status=$?
  if ((status)); then
    tail -n 25 "$log" >&2
    printf 'bootstrap: step "%s" failed (status %d); the whole log is %s\n' "$name" "$status" "$PWD/$log" >&2
  fi
  return "$status"
}

# ---- 1. packages

optional_packages=()
packages=(cmake ninja-build g++ pkgconf libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libzstd-dev)
if [[ $preset != gpu ]]; then
  packages+=(llvm-19-dev clang-19 libclang-19-dev libclang-cpp19-dev libpolly-19-dev lld-19 zlib1g-dev libxml2-dev)
fi
[[ $preset != asan ]] || packages+=(libclang-rt-19-dev)
case $command in
  test)
    packages+=(catch2 python3 python3-dev python3-numpy clang-format-19)
    [[ $preset == asan || $preset == gpu ]] || optional_packages=(libstarpu-dev libopenmpi-dev openmpi-bin)
    ;;
  lint) packages+=(python3 clang-format-19 clang-tidy-19) ;;
esac

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s ' "$package"
  done
}

install_packages() {
  local missing as_root=()
  if ! command -v apt-get >/dev/null; then
    say "packages: no apt here; going on in the hope that these, or what they are called here, are installed: $*"
    return
  fi
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    say "packages: all $# present"
    return
  fi
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      as_root=(sudo)
    else
      fail "packages are missing, and there is neither root nor sudo to install them. Ask for:
  apt-get install ${missing% }"
    fi
  fi
  say "packages: installing ${missing% }"
  local apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300)
  ((EUID == 0)) || sudo true  # asks for the password here, not into a log
  quietly apt-update "${apt[@]}" update || say "packages: the lists could not be renewed; trying with those at hand"
  # shellcheck disable=SC2086
  quietly apt-install "${apt[@]}" install --no-install-recommends $missing ||
    fail "packages could not be installed: are the package servers reachable, and is this Debian 12 or Ubuntu 24.04?"
}

install_packages "${packages[@]}"
# Ubuntu, or a mirror in part, may not have what tensors over several machines need: all else is built as ever.
((${#optional_packages[@]} == 0)) || (install_packages "${optional_packages[@]}") ||
  say "packages: going on without ${optional_packages[*]}: no tensors over several machines"

# ---- 2. NVRTC

# Prints the folder of libnvrtc below each root given, the first one found.
nvrtc_below() {
  local root folder
  for root in "$@"; do
    for folder in "$root"/lib64 "$root"/lib "$root"/targets/*/lib "$root"/nvidia/cu13/lib; do
      if compgen -G "$folder/libnvrtc.so.*" >/dev/null; then
        (cd "$folder" && pwd)
        return
      fi
    done
  done
}

cuda=ON
nvrtc=$(nvrtc_below "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda build/nvrtc)
if [[ -z $nvrtc ]]; then
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip ca-certificates
  say "nvrtc: no CUDA toolkit in ${CUDA_HOME:-/usr/local/cuda}; fetching $NVRTC_WHEEL from PyPI (90 MB)"
  rm -rf build/nvrtc.part
  if quietly nvrtc python3 -m pip install --no-deps --target build/nvrtc.part "$NVRTC_WHEEL"; then
    mv build/nvrtc.part build/nvrtc
    nvrtc=$(nvrtc_below build/nvrtc)
  fi
fi
if [[ -n $nvrtc ]]; then
  say "nvrtc: $nvrtc"
elif [[ $preset == gpu ]]; then
  fail "no NVRTC: neither a CUDA toolkit (set CUDA_HOME) nor PyPI could be reached, and preset gpu needs one"
else
  cuda=OFF
  say "nvrtc: PyPI could not be reached; building for the CPU alone (set CUDA_HOME to a toolkit for CUDA kernels)"
fi

# ---- 3. what the Python package is built and tested with

# Debian has no nanobind of this version; NumPy comes from there unless the first python3 of PATH is another one.
if [[ $command == test && ! -d build/python-packages ]]; then
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3 python3-pip ca-certificates
  wanted=("$NANOBIND_WHEEL")
  python3 -c 'import numpy' 2>/dev/null || wanted+=(numpy)
  say "python: fetching ${wanted[*]} from PyPI"
  rm -rf build/python-packages.part
  if quietly python python3 -m pip install --no-deps --target build/python-packages.part "${wanted[@]}"; then
    mv build/python-packages.part build/python-packages
  else
    say "python: PyPI could not be reached; the Python package is left out, and its tests are skipped"
  fi
fi

# ---- 4. configure and build

tests=OFF
[[ $command != test ]] || tests=ON
# A demo must not take the tests out of a build folder that has them.
if grep -qs '^RICCI_TESTS:BOOL=ON' "$build/CMakeCache.txt"; then tests=ON; fi
configure=(cmake --preset "$preset" "-DRICCI_CUDA=$cuda" "-DRICCI_NVRTC_HINT=$nvrtc" "-DRICCI_TESTS=$tests"
  "-DRICCI_PYTHON_PACKAGES=$([[ ! -d build/python-packages ]] || printf '%s' "$PWD/build/python-packages")")
if [[ ! -f $build/build.ninja || "$(cat "$build/.configured" 2>/dev/null)" != "${configure[*]}" ]]; then
  say "configure: preset $preset in $build"
  quietly configure "${configure[@]}" || exit 1
  printf '%s' "${configure[*]}" >"$build/.configured"
fi

jobs=$(nproc)
# A compilation takes up to 1.5 GB: fewer at once where memory is short.
memory_gb=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
((jobs <= memory_gb * 2 / 3)) || jobs=$((memory_gb > 1 ? memory_gb * 2 / 3 : 1))

build() {
  say "build: $build, $jobs at a time"
  quietly build cmake --build "$build" -j "$jobs" "$@" || exit 1
}

# ---- 5. run

case $command in
  demo)
    build --target ricci_command
    exec examples/demo.sh "$build/bin/ricci"
    ;;
  test)
    build
    ((${#rest[@]})) || rest=(-LE deep)
    say "test: the log is $logs/$preset-test.log"
    ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --output-log "$logs/$preset-test.log" \
      "${rest[@]}"
    ;;
  lint)
    say "lint: clang-format"
    python3 tests/structure/check.py format .
    say "lint: clang-tidy"
    cmake --build "$build" --target tidy
    say "lint: clean"
    ;;
esac

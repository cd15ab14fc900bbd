#!/usr/bin/env bash
# Builds for the GPU alone, runs the tests that need one, and the benches; results go to OUTDIR as JSON.
#
#   bench/gpu.sh OUTDIR [tests|sanitize|bench ...]     default: tests bench
#
# SETS, DTYPES, TOP, EVERY, REPEAT and COMMIT in the environment narrow the benches and name the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/gpu.sh OUTDIR [tests|sanitize|bench ...]}
shift
steps=${*:-tests bench}
mkdir -p "$out"
build=build/gpu

cmake --preset gpu >"$out/configure.log" 2>&1 || { tail -30 "$out/configure.log"; exit 1; }
cmake --build "$build" >"$out/build.log" 2>&1 || { grep -E 'error|FAILED' -A5 "$out/build.log" | head -60; exit 1; }
export RICCI_CACHE_DIR=${RICCI_CACHE_DIR:-$PWD/$build/bench-cache}

for step in $steps; do
  case $step in
    tests)
      ctest --test-dir "$build" -L gpu --output-on-failure -j4 | tail -40
      ;;
    sanitize)
      # Fewer problems: the tools slow a kernel down a hundredfold.
      for tool in memcheck racecheck; do
        RICCI_FUZZ_CASES=${SANITIZE_CASES:-300} compute-sanitizer --tool "$tool" --error-exitcode 9 \
          "$(find "$build" -name gpu_permute_gpu -type f)" >"$out/$tool.log" 2>&1 && result=clean || result=FAILED
        echo "$tool: $result: $(tail -1 "$out/$tool.log")"
      done
      ;;
    bench)
      for set in ${SETS:-ttc57}; do
        for dtype in ${DTYPES:-f32 f64}; do
          "$build/bin/ricci" bench permute "bench/problems/$set.csv" --device gpu --dtype "$dtype" --top "${TOP:-1}" \
            --every "${EVERY:-1}" \
            --repeat "${REPEAT:-9}" --commit "${COMMIT:-unknown}" --output "$out/permute-$set-$dtype.json" >"$out/permute-$set-$dtype.txt" 2>&1 || true
          tail -6 "$out/permute-$set-$dtype.txt"
        done
      done
      ;;
    *) echo "no step \"$step\"" >&2; exit 2 ;;
  esac
done

#!/usr/bin/env bash
# Builds for the GPU alone, runs the tests that need one, and the benches; results go to OUTDIR as JSON.
#
#   bench/gpu.sh OUTDIR [tests|sanitize|bench|measured|sweep|profile|limits|contract|contract-measured|contract-sets|programs ...]     default: tests bench contract programs
#
# BLAS names cuBLAS's file, whose matrix product bounds contractions as Ricci's own does.
# SETS, DTYPES, TOP, EVERY, REPEAT, SIZES and COMMIT in the environment narrow the benches and name the commit; CUTENSOR
# and CUTT name the shared libraries that permutations are timed beside (contractions: the first), PEERS the device in the names of the files of
# bench/peers to divide by, such as nvidia-h200. `measured` is `bench` with measured plans, of CANDIDATES by the model where
# that is set; `contract-sets` is `contract` for all sets of contractions in the types of docs/results.md, of the large ones every second case, `sweep` takes the sets at one size after the other, `profile` has Nsight Compute count what the model's choices do,
# `limits` copies runs that lie apart, and tiles without exchanging anything (needs nvcc).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: bench/gpu.sh OUTDIR [tests|sanitize|bench|measured|sweep|profile|limits|contract|contract-measured|contract-sets|programs ...]}
shift
steps=${*:-tests bench contract programs}
mkdir -p "$out"
build=build/gpu

cmake --preset gpu >"$out/configure.log" 2>&1 || { tail -30 "$out/configure.log"; exit 1; }
cmake --build "$build" >"$out/build.log" 2>&1 || { grep -E 'error|FAILED' -A5 "$out/build.log" | head -60; exit 1; }
export RICCI_CACHE_DIR=${RICCI_CACHE_DIR:-$PWD/$build/bench-cache}

libraries=(${CUTENSOR:+--cutensor "$CUTENSOR"} ${CUTT:+--cutt "$CUTT"})

# peers SET DTYPE: the option that names what others took, where a file has it.
peers() {
  local file=bench/peers/$1_$2_${PEERS:-}.csv
  [[ ! -f $file ]] || printf -- '--peers %s' "$file"
}

# heading: what a table that names no device itself is of.
heading() {
  printf '# %s, %s, %s: bench/gpu.sh OUT %s\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)" "$(date -I)" \
    "${COMMIT:-unknown}" "$step"
}

# permutations permute|sweep OPTION...: each of SETS in each of DTYPES, to a file named by the step.
permutations() {
  local bench=$1 prefix=$1 set dtype name
  shift
  [[ $step == measured ]] && prefix=measured-permute
  for set in ${SETS:-ttc57}; do
    for dtype in ${DTYPES:-f32 f64}; do
      name=$out/$prefix-$set-$dtype
      "$build/bin/ricci-bench" "$bench" "bench/problems/$set.csv" --device gpu --dtype "$dtype" --every "${EVERY:-1}" "$@" \
        $([[ $bench == sweep ]] || peers "$set" "$dtype") --commit "${COMMIT:-unknown}" --output "$name.json" >"$name.txt" 2>&1 || true
      tail -n 14 "$name.txt"
    done
  done
}

# contractions NAME OPTION...: each of SETS in each of DTYPES, of which tf32 and tf32x3 are f32 in that precision, to
# NAME-SET-DTYPE.json; beside cuBLAS's matrix product where BLAS names the library.
contractions() {
  local as=$1 set dtype name precision
  shift
  for set in ${SETS:-tccg48}; do
    for dtype in ${DTYPES:-f64}; do
      name=$out/$as-$set-$dtype precision=
      [[ $dtype != tf32* ]] || precision="--precision $dtype"
      "$build/bin/ricci-bench" contract "bench/problems/$set.csv" --device gpu --dtype "${dtype/tf32*/f32}" $precision \
        --every "${EVERY:-1}" --repeat "${REPEAT:-7}" ${BLAS:+--blas "$BLAS"} \
        ${CUTENSOR:+--cutensor "$CUTENSOR"} "$@" $(peers "$set" "$dtype") \
        --commit "${COMMIT:-unknown}" --output "$name.json" >"$name.txt" 2>&1 || true
      tail -n 5 "$name.txt"
    done
  done
}

for step in $steps; do
  case $step in
    tests)
      ctest --test-dir "$build" -L gpu --output-on-failure -j4 | tail -40
      ;;
    sanitize)
      # Fewer problems: the tools slow a kernel down a hundredfold.
      for tool in memcheck racecheck; do
        for test in $(find "$build/tests/fuzz" -name 'gpu_*_gpu' -type f); do
          log=$out/$tool-$(basename "$test").log
          RICCI_FUZZ_CASES=${SANITIZE_CASES:-300} compute-sanitizer --tool "$tool" --error-exitcode 9 "$test" >"$log" 2>&1 &&
            result=clean || result=FAILED
          echo "$tool $(basename "$test"): $result: $(tail -1 "$log")"
        done
      done
      ;;
    bench)
      permutations permute --top "${TOP:-1}" --repeat "${REPEAT:-9}" "${libraries[@]}"
      ;;
    measured)
      for set in ${CANDIDATES:+${SETS:-ttc57}}; do
        for dtype in ${DTYPES:-f32 f64}; do
          "$build/bin/ricci" tune "bench/problems/$set.csv" --device gpu --dtype "$dtype" --candidates "$CANDIDATES" \
            >"$out/tune-$set-$dtype.txt" 2>&1
        done
      done
      permutations permute --measure --repeat "${REPEAT:-9}" "${libraries[@]}"
      ;;
    sweep)
      permutations sweep --repeat "${REPEAT:-7}" ${SIZES:+--sizes "$SIZES"}
      ;;
    profile)
      # What the profiler counts of the model's choices, one row per kernel.
      for set in ${SETS:-hard}; do
        for dtype in ${DTYPES:-f32}; do
          name=$out/profile-$set-$dtype
          ncu --clock-control none --kernel-name-base function --kernel-name 'regex:^u[0-9]+_' --csv --page raw --log-file "$name.raw" \
            --section SpeedOfLight --section MemoryWorkloadAnalysis --section MemoryWorkloadAnalysis_Tables \
            --section WarpStateStats --section LaunchStats "$build/bin/ricci-bench" permute "bench/problems/$set.csv" --device gpu \
            --dtype "$dtype" --every "${EVERY:-1}" --repeat 1 --untuned >"$name.txt" 2>&1 || true
          python3 bench/profile.py "$name.raw" "$name.rows"
          { heading; cat "$name.rows"; } >"$name.csv"
          cut -d, -f1-8 "$name.rows"
        done
      done
      ;;
    limits)
      for program in scattered_copy tile_addresses; do
        nvcc -std=c++20 -O3 -arch=native "bench/$program.cu" -o "$build/$program" &&
          { heading; "$build/$program"; } | tee "$out/$program.csv"
      done
      ;;
    contract)
      contractions contract
      ;;
    contract-sets)
      # Of the large sets half, so that all are done within ten minutes of an H100.
      for of in tccg48:f64:1 tccg48:c128:1 tccg48_f32:f32:1 tccg48_f32:tf32:1 tccg48_f32:bf16:1 talsh300:f64:2 talsh300:f32:2 tcl200:f64:2; do
        IFS=: read -r set dtype every <<<"$of"
        SETS=$set DTYPES=$dtype EVERY=${EVERY:-$every} contractions contract
      done
      ;;
    contract-measured)
      contractions contract-measured --measure
      ;;
    programs)
      # Equations on a million points, in a set of their own; then groups, scans, fills and reductions at full size.
      programs=examples/programs
      "$build/bin/ricci-bench" run $programs/grid/eq*.ricci $programs/grid/generalized_harmonic.ricci --extent x=1000000 \
        --set grid --device gpu --commit "${COMMIT:-unknown}" --output "$out/run-grid.json" >"$out/run-grid.txt" 2>&1 || true
      # The same in other types, of which a GPU has no kernel for all 18 at once.
      for dtype in f64 f32 c128; do
        mkdir -p "$out/$dtype"
        sed "s/: f64/: $dtype/" $programs/chemistry/ccsd_t_18.ricci >"$out/$dtype/ccsd_t_18.ricci"
        set=ccsd_t_18_size_c$([[ $dtype == f64 ]] || echo "_$dtype")
        "$build/bin/ricci-bench" run "$out/$dtype/ccsd_t_18.ricci" --extent i=24 --extent j=24 --extent k=24 --extent a=24 \
          --extent b=24 --extent c=24 --extent l=24 --extent d=24 --extent p=24 --extent q=24 --set $set \
          --device gpu --product $([[ $dtype == c128 ]] && echo f64 || echo $dtype) ${CUTENSOR:+--cutensor "$CUTENSOR"} \
          --commit "${COMMIT:-unknown}" --output "$out/run-$set.json" >"$out/run-$set.txt" 2>&1 || true
        rm -r "${out:?}/$dtype"
      done
      for dtype in f64 f32; do
        python3 bench/doubles.py "$build/bin/ricci-bench" --device gpu --dtype $dtype --set doubles_$dtype \
          --commit "${COMMIT:-unknown}" --output "$out/run-doubles-$dtype.json" >"$out/run-doubles-$dtype.txt" 2>&1 || true
      done
      "$build/bin/ricci-bench" run $programs/interactions/prefix_sum.ricci bench/problems/prefix_sum_i32.ricci \
        --extent i=$((1 << 26)) --set prefix_sum --device gpu \
        --commit "${COMMIT:-unknown}" --output "$out/run-prefix_sum.json" >"$out/run-prefix_sum.txt" 2>&1 || true
      # 2^36 pairs of states with 8 particles each: pairs per second are that over the time.
      "$build/bin/ricci-bench" run $programs/interactions/count_exact.ricci $programs/interactions/count_filtered.ricci \
        --extent i=$((1 << 18)) --extent j=$((1 << 18)) --extent p=8 --extent q=8 --extent w=1 --set count_pairs_2e36 --device gpu \
        --commit "${COMMIT:-unknown}" --output "$out/run-count_pairs.json" >"$out/run-count_pairs.txt" 2>&1 || true
      for log in "$out"/run-*.txt; do tail -n 24 "$log"; done
      ;;
    *) echo "no step \"$step\"" >&2; exit 2 ;;
  esac
done

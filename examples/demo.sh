#!/usr/bin/env bash
# Permutes the integrals of a water molecule from chemists' to physicists' order, <pr|qs> = (pq|rs), twice on every device
# that is there: with an empty kernel cache, and with the kernel of the first run in it. Shows the kernel's source.
#
# usage: demo.sh RICCI    the command line to use, such as build/release/bin/ricci
set -euo pipefail
ricci=$(realpath "${1:?usage: demo.sh RICCI}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
input=$here/data/h2o_ccpvdz/eri_ao.npy
out=$(dirname "$(dirname "$ricci")")/demo
spec="pqrs->prqs"
extents=(p=24 q=24 r=24 s=24)

rm -rf "$out"
mkdir -p "$out"
export RICCI_CACHE_DIR=$out/cache

# run DEVICE NAME WHAT: permutes, and keeps what the command line says.
run() {
  printf '\n== %s, %s\n$ ricci permute "%s" eri_ao.npy -o out.npy --device %s --verify\n' "$1" "$3" "$spec" "$1"
  "$ricci" permute "$spec" "$input" -o "$out/out.npy" --device "$1" --verify | tee "$out/$1-$2.txt"
}
# ready DEVICE NAME: milliseconds from the call to a kernel that can run.
ready() { awk '$1 == "ready" {print $2, $3}' "$out/$1-$2.txt"; }

devices=()
found=$("$ricci" doctor)
grep -q '^ok *clang' <<<"$found" && devices+=(cpu)
grep -q '^ok *device' <<<"$found" && devices+=(gpu)

for device in ${devices[@]+"${devices[@]}"}; do
  run "$device" cold "cold: no kernel yet, one is generated and compiled"
  run "$device" warm "warm: a new process finds it on disk"
done

summary=()
for device in ${devices[@]+"${devices[@]}"}; do
  summary+=("$device: kernel ready after $(ready "$device" cold) cold, $(ready "$device" warm) warm")
done
if [[ " ${devices[*]-} " == *" cpu "* ]]; then
  "$ricci" show "$spec" "${extents[@]}" --device cpu >"$out/kernel.cpp"
  summary+=("its source, C++:   $out/kernel.cpp")
fi
if grep -q '^ok *nvrtc' <<<"$found"; then  # a CUDA kernel needs no GPU to be made and read
  "$ricci" show "$spec" "${extents[@]}" --target sm_90 >"$out/kernel.cu"
  summary+=("its source, CUDA:  $out/kernel.cu")
fi
summary+=("the result:        $out/out.npy" "the kernel cache:  $RICCI_CACHE_DIR")

for source in "$out"/kernel.*; do
  printf '\n== %s\n' "$source"
  sed -n '/made by ricci/,$p' "$source"
done
printf '\n'
printf '%s\n' "${summary[@]}"

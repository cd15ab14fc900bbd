#!/usr/bin/env bash
# Permutes the integrals of a water molecule from chemists' to physicists' order, <pr|qs> = (pq|rs), twice: with an empty
# kernel cache, and with the kernel of the first run in it.
#
# usage: demo.sh RICCI    the command line to use, such as build/release/bin/ricci
set -euo pipefail
ricci=$(realpath "${1:?usage: demo.sh RICCI}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
input=$here/data/h2o_ccpvdz/eri_ao.npy
out=$(dirname "$(dirname "$ricci")")/demo
spec="pqrs->prqs"

rm -rf "$out"
mkdir -p "$out"
export RICCI_CACHE_DIR=$out/cache

run() {
  printf '\n== %s\n$ ricci permute eri_ao.npy out.npy "%s" --verify\n' "$1" "$spec"
  "$ricci" permute "$input" "$out/out.npy" "$spec" --verify
}
run "cold: no kernel yet, Clang compiles one"
run "warm: a new process finds it on disk"

"$ricci" show "$spec" p=24 q=24 r=24 s=24 --source >"$out/kernel.cpp"
printf '\nThe kernel that ran: %s (%s lines)\nThe result:          %s\nThe kernel cache:    %s\n' \
  "$out/kernel.cpp" "$(wc -l <"$out/kernel.cpp")" "$out/out.npy" "$RICCI_CACHE_DIR"

#!/bin/sh
# Makes every workload's kernel.ptx from its kernel.cu with clang alone (no CUDA toolkit, no CUDA headers).
#
#   scripts/make-ptx.sh           writes the files
#   scripts/make-ptx.sh --check   writes nothing; fails if a checked-in file differs from what its source gives
#
# CLANG names the compiler (default: clang). The checked-in files come from Debian's clang 14.0.6; another version may
# give other, equally valid PTX, and then --check says so.
set -eu
cd "$(dirname "$0")/.."
clang=${CLANG:-clang}
crate=crates/workloads

case ${1-} in
  '') check=no ;;
  --check) check=yes ;;
  *) echo "usage: scripts/make-ptx.sh [--check]" >&2; exit 2 ;;
esac
command -v "$clang" >/dev/null || { echo "make-ptx: $clang not found (Debian: apt-get install clang)" >&2; exit 2; }

# 32-bit shared and constant addresses, as the vendor's compiler makes them. Comments (the compiler's banner) are kept.
compile() {
  "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_35 -S -O2 -ffp-contract=fast \
    -Xclang -fcuda-short-ptr -mllvm --nvptx-short-ptr -mllvm -sink-common-insts=false -Wall -Werror -I "$crate/cuda" -o "$2" "$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
stale=0
count=0
for source in "$crate"/src/*/kernel.cu; do
  target=${source%.cu}.ptx
  compile "$source" "$scratch/kernel.ptx"
  count=$((count + 1))
  if cmp -s "$scratch/kernel.ptx" "$target"; then
    continue
  elif [ "$check" = yes ]; then
    echo "make-ptx: $target is not what $source gives" >&2
    stale=1
  else
    cp "$scratch/kernel.ptx" "$target"
    echo "$target"
  fi
done
[ "$check" = no ] || [ $stale = 1 ] || echo "make-ptx: $count files are up to date ($("$clang" --version | head -n 1))"
exit $stale

#!/usr/bin/env bash
# Counts the host instructions that a reference case takes (valgrind's callgrind): the same number again and again, however
# busy the machine is. Usage: scripts/count-instructions.sh [CASE…]; default: stencil5. Needs valgrind and the
# reference folder (WARPWATT_REFERENCE). `cargo bench` measures time.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet -p warpwatt-machine --example fidelity
program=${CARGO_TARGET_DIR:-target}/release/examples/fidelity
for case in "${@:-stencil5}"; do
  count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$case" 2>&1 >/dev/null |
    awk '/refs:/ { gsub(",", "", $NF); print $NF }')
  printf '%-20s %s instructions\n' "$case" "$count"
done

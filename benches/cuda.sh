#!/usr/bin/env bash
# Builds what is to be run on a machine with a CUDA device, and gathers it in a folder that can be carried there:
# `benches/cuda.sh FOLDER`, then `FOLDER/run.sh` on that machine. That takes no Rust there, and no network.
set -euo pipefail
folder=$(realpath -m "${1:?a folder to gather the binaries in}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$folder"

# The path of the executable that cargo says it has built.
built() {
    cargo "$@" --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
cp "$(built test --release --features cuda --test cuda --no-run)" "$folder/tests"
cp "$(built bench --features cuda --bench cuda --no-run)" "$folder/bench"
cp benches/cuda_peers.py "$folder"
cat >"$folder/run.sh" <<'RUN'
#!/usr/bin/env bash
# Tests, tests under compute-sanitizer where that is installed, and measurements; beside those of PyTorch if PULLBACK_PEERS names a Python
# that has it, or if python3 does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./tests --nocapture on_a_cuda_device
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck initcheck; do
        compute-sanitizer --tool "$tool" --error-exitcode 1 ./tests on_a_cuda_device
    done
else
    echo 'SKIPPED: no compute-sanitizer'
fi
if [ -z "${PULLBACK_PEERS:-}" ] && python3 -c 'import torch' 2>/dev/null; then
    export PULLBACK_PEERS=python3
fi
./bench --bench
RUN
chmod +x "$folder/run.sh"
echo "gathered in $folder"

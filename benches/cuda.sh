#!/usr/bin/env bash
# Builds what is to be run on a machine with a CUDA device, and gathers it in a folder that can be carried there:
# `benches/cuda.sh FOLDER`, then `FOLDER/run.sh` on that machine. That takes no Rust there, and no network.
set -euo pipefail
folder=$(realpath -m "${1:?a folder to gather the binaries in}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$folder"
# What is measured happens on the device.
export CARGO_PROFILE_RELEASE_LTO=off

# Copies the executable that cargo says it has built.
gather() {
    local name=$1 built
    shift
    built=$(cargo "$@" --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    cp "$built" "$folder/$name"
    strip "$folder/$name" 2>/dev/null || true
}
gather kernels test --release -p pullback-rules --features cuda --lib --no-run
gather gradients test --release --features cuda --test cuda --no-run
gather bench bench --features cuda --bench cuda --no-run
cp benches/cuda_peers.py "$folder"
cat >"$folder/run.sh" <<'RUN'
#!/usr/bin/env bash
# `run.sh [PART…]` runs all parts, or those that are named: tests; memcheck, racecheck, synccheck and initcheck, which are the tests under a
# tool of compute-sanitizer; bench, which measures. Networks are compared with PyTorch's if PULLBACK_PEERS names a Python that has it, or
# if python3 does. No part takes longer than LIMIT seconds. What fails is named at the end.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
parts=("$@")
[ $# -gt 0 ] || parts=(tests bench memcheck racecheck synccheck initcheck)
limit=${LIMIT:-580}

export PULLBACK_DEVICE_ONLY=1 PULLBACK_CUDA_CACHE=${PULLBACK_CUDA_CACHE-$PWD/cache}
PATH=$PATH:/usr/local/cuda/bin
if [ -z "${PULLBACK_PEERS:-}" ] && python3 -c 'import torch' 2>/dev/null; then
    export PULLBACK_PEERS=python3
fi
# CUDA's libraries may be those that came with PyTorch, or lie where nobody looks for them.
site='import glob, sysconfig; print(*glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib"), sep=":")'
libraries=$("${PULLBACK_PEERS:-python3}" -c "$site" 2>/dev/null || true)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${libraries:+$libraries:}/usr/local/cuda/lib64

failed=()
run() {
    echo "==> $* (after $SECONDS s)"
    timeout "$limit" "$@" || failed+=("$*, with status $?")
}
# The tests, behind the words of a command that runs them. What tests the simulator itself takes g++, and all kernels that are run are
# compiled as it is.
tests() {
    run "$@" ./kernels cuda:: --skip simulator:: --skip nvrtc::
    run "$@" ./gradients
}
for part in "${parts[@]}"; do
    case $part in
    tests) tests ;;
    bench) run ./bench --bench ;;
    memcheck | racecheck | synccheck | initcheck)
        if command -v compute-sanitizer >/dev/null; then
            # Races in kernels of the libraries are not ours, and to look for them takes minutes.
            kernels=()
            [ "$part" != racecheck ] || kernels=(--kernel-name kns=pb_)
            tests compute-sanitizer --tool "$part" "${kernels[@]}" --error-exitcode 1
        else
            echo "SKIPPED: no compute-sanitizer, so nothing is known about $part"
        fi
        ;;
    *) failed+=("there is no part $part") ;;
    esac
done
[ ${#failed[@]} = 0 ] && echo '==> all passed' && exit
printf '==> FAILED: %s\n' "${failed[@]}"
exit 1
RUN
chmod +x "$folder/run.sh"
glibc=$(grep -aoh 'GLIBC_2\.[0-9]*' "$folder/kernels" "$folder/gradients" "$folder/bench" | sort -V | tail -n 1)
echo "gathered in $folder: $(du -sh "$folder" | cut -f 1), for $(uname -m) with ${glibc/_/ } or later"

#!/usr/bin/env bash
# Builds KenLM's lmplz, build_binary and filter: build_lm_tools.sh SOURCE FOLDER
#
# SOURCE is KenLM's source; the programs are in FOLDER/bin afterwards. If packages of the system are missing, the script
# prints one line that says how to install them, and exits with code 1.
set -euo pipefail
kenlm=$1
folder=$2
compiler=${CXX:-g++}

# Debian's packages, each with a header that shows whether it is installed.
libraries=(
    libboost-program-options-dev:boost/program_options.hpp
    libboost-system-dev:boost/system/error_code.hpp
    libboost-test-dev:boost/test/unit_test.hpp
    libboost-thread-dev:boost/thread.hpp
    libbz2-dev:bzlib.h
    liblzma-dev:lzma.h
    zlib1g-dev:zlib.h
)

missing=()
command -v "${compiler%% *}" >/dev/null || missing+=(g++)
command -v cmake >/dev/null || missing+=(cmake)
for library in "${libraries[@]}"; do
    echo "#include <${library#*:}>" | $compiler -x c++ -E - >/dev/null 2>&1 || missing+=("${library%%:*}")
done
if ((${#missing[@]})); then
    echo "lm-tools: packages of the system are missing; on Debian or Ubuntu: sudo apt-get install ${missing[*]}" >&2
    exit 1
fi

cmake -S "$kenlm" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-w -DKENLM_MAX_ORDER=6 \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -Wno-dev >/dev/null
cmake --build "$folder" --parallel "$(nproc)" --target lmplz build_binary filter
echo "lm-tools: lmplz, build_binary and filter are in $(cd "$folder/bin" && pwd)"

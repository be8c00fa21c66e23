#!/usr/bin/env bash
# A smoke test of the whole program: learn one recording by heart, and transcribe it without an error.
#
#     bin/run-ldc93s1.sh WAV TRANSCRIPT [--work FOLDER] [FLAG...]
#
# WAV and TRANSCRIPT are LDC93S1.wav and LDC93S1.txt of the TIMIT sample, or any other pair of that kind: one line of
# text after the numbers of the first and last sample. Checkpoints are kept in the work folder (default:
# deepspeech/ldc93s1 in the user's cache folder). The FLAGs are those of deepspeech-train. Exits with code 1 if the
# transcription is not the transcript.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"
choose_work_folder ldc93s1 "$@"
check_python
((${#arguments[@]} >= 2)) || fail "expected WAV and TRANSCRIPT; --help says more"
mkdir -p "$work/recordings"
ln -sf "$(realpath "${arguments[0]}")" "$work/recordings/LDC93S1.wav"
ln -sf "$(realpath "${arguments[1]}")" "$work/recordings/LDC93S1.txt"
heard=$(experiment ldc93s1 --work "$work" --from "$work/recordings" --one_shot_infer "${arguments[0]}" "${arguments[@]:2}")
expected=$(tail -n 1 "$work/corpus/ldc93s1.csv" | cut -d, -f3)

echo "$heard"
[[ $heard == "$expected" ]] || fail "'$heard' was heard instead of '$expected'"

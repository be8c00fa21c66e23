#!/usr/bin/env bash
# A smoke test of the whole program: learn one recording by heart, and transcribe it without a mistake.
#
#     bin/run-ldc93s1.sh [--work FOLDER] WAV TRANSCRIPT [TRAINER FLAG...]
#
# WAV and TRANSCRIPT are LDC93S1.wav and LDC93S1.txt of the TIMIT sample, or any other pair of that kind: one line of
# text after the numbers of the first and last sample. Checkpoints are kept in the work folder (default:
# deepspeech/ldc93s1 in the user's cache folder). Exits with code 1 if the transcription is not the transcript.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"
read_options ldc93s1 "$@"
((${#arguments[@]} >= 2)) || fail "expected WAV and TRANSCRIPT; --help says more"
wav=${arguments[0]} transcript=${arguments[1]} arguments=("${arguments[@]:2}")

expected=$("$PYTHON" "$root/bin/import_ldc93s1.py" "$work/corpus" "$wav" "$transcript")
model=(--n_hidden 128 --checkpoint_dir "$work/checkpoints" --summary_dir "$work/summaries")
corpus=$work/corpus/ldc93s1.csv
deepspeech "${model[@]}" --train_files "$corpus" --test_files "$corpus" \
    --epoch 200 --learning_rate 0.001 --dropout_rate 0 --noearly_stop --validation_step 0 "${arguments[@]}"
heard=$(deepspeech "${model[@]}" "${arguments[@]}" --notrain --notest --one_shot_infer "$wav")

echo "$heard"
[[ $heard == "$expected" ]] || fail "'$heard' was heard instead of '$expected'"

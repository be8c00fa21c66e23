#!/usr/bin/env bash
# Synthesize a small corpus, train on it, test on voices that are not in the training set, export the model, and
# transcribe a recording with it.
#
#     bin/run-demo.sh [--work FOLDER] [FLAG...]
#
# Corpus and checkpoints are kept in the work folder (default: deepspeech/demo in the user's cache folder); a second run
# continues from there. The FLAGs are those of deepspeech-train.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"
choose_work_folder demo "$@"
experiment demo --work "$work" --export_dir "$work/model" "${arguments[@]}"
[[ -f $work/corpus/test.csv ]] || exit 0 # flags such as --version train nothing

# A recording of the test set, so its voice is not in the training set.
{ read -r recording && read -r transcript; } < <("$PYTHON" - "$work/corpus/test.csv" <<'PYTHON'
import csv
import sys
from pathlib import Path

path = Path(sys.argv[1])
with path.open(newline="", encoding="utf-8") as rows:
    row = list(csv.DictReader(rows))[7]
print(path.parent / row["wav_filename"], row["transcript"], sep="\n")
PYTHON
)
no_more=(--notrain --notest --export_dir= --test_output_file= --report_dir=)
heard=$(experiment demo --work "$work" "${arguments[@]}" "${no_more[@]}" --one_shot_infer "$recording" --log_level 2)
echo
echo "recording:     $recording"
echo "said:          $transcript"
echo "transcription: $heard"
echo
echo "The model is $work/model/output_graph.pb. To transcribe with it:"
echo "  $(path_of deepspeech) --model $work/model/output_graph.pb --scorer $root/data/lm/demo.arpa --audio $recording"

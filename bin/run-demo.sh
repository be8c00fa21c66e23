#!/usr/bin/env bash
# Synthesize a small corpus, train on it, test on voices that were never trained on, export the model, and transcribe a
# recording with it.
#
#     bin/run-demo.sh [--work FOLDER] [TRAINER FLAG...]
#
# Corpus and checkpoints are kept in the work folder (default: deepspeech/demo in the user's cache folder); run again,
# it carries on from there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"
read_options demo "$@"

language_model=(--lm_binary_path "$root/data/lm/demo.arpa" --lm_weight 1 --valid_word_count_weight 1 --beam_width 100)
model=(--n_hidden 256 --checkpoint_dir "$work/checkpoints" "${language_model[@]}")

"$PYTHON" "$root/bin/make_demo_corpus.py" "$work/corpus"
deepspeech \
    --train_files "$work/corpus/train.csv" --dev_files "$work/corpus/dev.csv" --test_files "$work/corpus/test.csv" \
    --train_cached_features_path "$work/train.h5" --summary_dir "$work/summaries" \
    --train_batch_size 16 --dev_batch_size 40 --test_batch_size 40 \
    --epoch 14 --validation_step 2 --noearly_stop --dropout_rate 0.1 --report_count 3 \
    --export_dir "$work/model" \
    "${model[@]}" "${arguments[@]}"

# A recording of the test set, so of a voice that the model has never heard.
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
echo
echo "recording:     $recording"
echo "said:          $transcript"
echo "transcription: $(deepspeech --one_shot_infer "$recording" --log_level 2 "${model[@]}")"
echo
echo "The model is $work/model/output_graph.pb. To transcribe with it:"
echo "  $(dirname "$PYTHON")/deepspeech --model $work/model/output_graph.pb --scorer $root/data/lm/demo.arpa --audio $recording"

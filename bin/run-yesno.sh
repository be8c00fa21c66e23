#!/usr/bin/env bash
# Train and test on the yesno recordings: one speaker, eight times yes or no in each of 60 files.
#
#     bin/run-yesno.sh [--from FOLDER] [--work FOLDER] [TRAINER FLAG...]
#
# The recordings are those in FOLDER, or else are downloaded. Corpus and checkpoints are kept in the work folder
# (default: deepspeech/yesno in the user's cache folder); run again, it carries on from there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"
read_options yesno "$@"

"$PYTHON" "$root/bin/import_yesno.py" "$work/corpus" ${recordings:+--from "$recordings"}
deepspeech \
    --train_files "$work/corpus/train.csv" --dev_files "$work/corpus/dev.csv" --test_files "$work/corpus/test.csv" \
    --checkpoint_dir "$work/checkpoints" --summary_dir "$work/summaries" \
    --audio_sample_rate 8000 --n_hidden 128 --dropout_rate 0.3 --dropout_rate4 0.3 --dropout_rate5 0.3 \
    --train_batch_size 2 --dev_batch_size 5 --test_batch_size 30 \
    --epoch 160 --learning_rate 0.002 --noearly_stop --validation_step 10 \
    --lm_binary_path "$root/data/lm/yesno.arpa" \
    "${arguments[@]}"

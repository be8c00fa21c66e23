#!/usr/bin/env bash
# Train and test on the Free Spoken Digit Dataset: 2,500 single digits by five speakers.
#
#     bin/run-fsdd.sh [--from FOLDER] [--work FOLDER] [TRAINER FLAG...]
#
# The recordings are those in FOLDER, or else are downloaded. Corpus and checkpoints are kept in the work folder
# (default: deepspeech/fsdd in the user's cache folder); run again, it carries on from there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"
read_options fsdd "$@"

"$PYTHON" "$root/bin/import_fsdd.py" "$work/corpus" ${recordings:+--from "$recordings"}
deepspeech \
    --train_files "$work/corpus/train.csv" --dev_files "$work/corpus/dev.csv" --test_files "$work/corpus/test.csv" \
    --train_cached_features_path "$work/train.h5" --dev_cached_features_path "$work/dev.h5" \
    --checkpoint_dir "$work/checkpoints" --summary_dir "$work/summaries" \
    --feature_type psf --audio_sample_rate 8000 \
    --n_hidden 256 --dropout_rate 0.3 --dropout_rate4 0.2 --dropout_rate5 0.2 \
    --train_batch_size 20 --dev_batch_size 50 --test_batch_size 50 \
    --epoch 30 --learning_rate 0.0005 --noearly_stop --validation_step 2 \
    --lm_binary_path "$root/data/lm/digits.arpa" \
    "${arguments[@]}"

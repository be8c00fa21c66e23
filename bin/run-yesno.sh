#!/usr/bin/env bash
# Train and test on the yesno recordings: one speaker, eight times yes or no in each of 60 files.
#
#     bin/run-yesno.sh [--from FOLDER] [--work FOLDER] [FLAG...]
#
# Without FOLDER, the recordings are downloaded. Corpus and checkpoints are kept in the work folder (default:
# deepspeech/yesno in the user's cache folder); a second run continues from there. The FLAGs are those of
# deepspeech-train.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"
experiment yesno "$@"

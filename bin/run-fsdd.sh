#!/usr/bin/env bash
# Train and test on the Free Spoken Digit Dataset: 2,500 single digits by five speakers.
#
#     bin/run-fsdd.sh [--from FOLDER] [--work FOLDER] [FLAG...]
#
# Without FOLDER, the recordings are downloaded. Corpus and checkpoints are kept in the work folder (default:
# deepspeech/fsdd in the user's cache folder); a second run continues from there. The FLAGs are those of
# deepspeech-train.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"
experiment fsdd "$@"

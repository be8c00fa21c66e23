#!/usr/bin/env bash
# Train and test on the Free Spoken Digit Dataset: 2,500 single digits by five speakers.
#
#     bin/run-fsdd.sh [--from FOLDER] [--work FOLDER] [TRAINER FLAG...]
#
# The recordings are those in FOLDER, or else are downloaded. Corpus and checkpoints are kept in the work folder
# (default: deepspeech/fsdd in the user's cache folder); run again, it carries on from there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"
experiment fsdd "$@"

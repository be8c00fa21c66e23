"""Commands import TensorFlow without a word, and without the Keras that they do not use."""

import os
import subprocess
import sys

SCRIPT = """
import os, sys
from deepspeech.cli.tensorflow_import import import_tensorflow
given = os.environ.get("TF_USE_LEGACY_KERAS")
import_tensorflow()
print(sorted({name.partition(".")[0] for name in sys.modules} & {"keras", "tf_keras"}))
assert os.environ.get("TF_USE_LEGACY_KERAS") == given
import tensorflow
print(tensorflow.keras.activations.relu.__module__.partition(".")[0])
"""


def imported(**variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"} | variables
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_keras_is_imported_when_it_is_used() -> None:
    assert imported() == ["[]", "keras"]


def test_the_users_choice_of_keras_is_kept() -> None:
    assert imported(TF_USE_LEGACY_KERAS="0") == ["['keras']", "keras"]

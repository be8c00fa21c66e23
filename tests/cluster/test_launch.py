"""How a node begins."""

import signal
import subprocess
import sys

import pytest
from nodes import Cluster
from program import Program

SWALLOWING = """
import os, signal, sys
from deepspeech.cli.train import main
from deepspeech.cluster import launch
from deepspeech.training import graph

owner = {"list_physical_devices": graph.tf.config, "start_server": launch}[sys.argv[1]]

def swallow_signal(*arguments, act=getattr(owner, sys.argv[1]), **named):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(1000))
    except BaseException:  # as TensorFlow does, which prints it and goes on
        pass
    return act(*arguments, **named)

setattr(owner, sys.argv[1], swallow_signal)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("when", ["list_physical_devices", "start_server"])
def test_a_signal_ends_a_node_that_starts_although_tensorflow_swallows_exceptions(program: Program, when: str) -> None:
    node = Cluster(program, []).place_of("worker 1")
    command = [sys.executable, "-c", SWALLOWING, when, *program.training(coord_retries=1), *node]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.splitlines()[-1] == "deepspeech: interrupted; there was nothing to save"

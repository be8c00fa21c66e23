"""The record of a run beside its checkpoints: its parameters, variables, graph and environment."""

import logging
import os
import platform
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from .. import __version__
from ..checkpoints.folder_reading import holds_checkpoints
from ..errors import CheckpointError, StorageError
from ..network import Network
from ..network.analysis import model_analysis
from ..network.layers.native_ops import has_bfloat16_products
from ..options import Options
from ..options.experiment import OF_IMPORT
from ..options.parameters.of_run import run_parameters
from ..options.parameters.text import FILE_NAME, Value, format_parameters, read_parameters, write_parameters
from ..util.errors import ParametersError
from ..util.files.whole_files import write_whole, written_whole
from ..util.files.writable import reason_of
from ..util.parallel import usable_cores
from ..util.storage.folders import send
from ..util.storage.store import StoreRefusalError

logger = logging.getLogger(__name__)

v1 = tf.compat.v1

MODEL_ANALYSIS_FILE = "model_analysis.txt"
ENVIRONMENT_FILE = "environment.txt"
GRAPH_FILE = Path("graph/events.out.tfevents.graph")
"""The file where TensorBoard finds the graph."""

SECONDS_FOR_GIT = 5


def has_run_record(options: Options) -> bool:
    """Return whether the parameters of a run are beside the checkpoints."""
    return (options.checkpoints.directory / FILE_NAME).exists()


def write_run_record(options: Options, network: Network, graph: Any) -> None:
    """Write the parameters, variables, graph and environment beside the checkpoints, and send them to their address.

    Raise CheckpointError if they cannot be written. While there is no checkpoint, raise StorageError if the store
    refuses them, as it would refuse the checkpoints.
    """
    folder = options.checkpoints.directory
    try:
        (folder / GRAPH_FILE).parent.mkdir(parents=True, exist_ok=True)
        write_parameters(folder / FILE_NAME, _parameters(options, folder / FILE_NAME))
        write_whole(folder / MODEL_ANALYSIS_FILE, model_analysis(network).encode())
        write_whole(folder / ENVIRONMENT_FILE, format_parameters(environment()).encode())
        _write_graph(folder / GRAPH_FILE, graph)
    except (OSError, tf.errors.OpError) as error:
        raise CheckpointError(
            f"{folder}: the record of the run cannot be written ({reason_of(error)}); "
            "free disk space, or choose another --checkpoint_dir"
        ) from error
    try:
        send(folder)
    except StorageError as error:
        if isinstance(error, StoreRefusalError) and not holds_checkpoints(folder):
            raise
        logger.warning("%s; what is written is sent later", error)


def _parameters(options: Options, before: Path) -> dict[str, Value]:
    """Return the parameters of a run; if it resumes without --from, with those of its corpus from the run before."""
    parameters = run_parameters(options)
    if options.experiment.corpus and not options.experiment.sources:
        with suppress(ParametersError):
            begun = read_parameters(before)
            parameters |= {name: begun[name] for name in OF_IMPORT if begun.get("from") and name in begun}
    return parameters


def environment() -> dict[str, Value]:
    """Return the environment of a run by name: versions, the commit of a checkout, and the machine."""
    return {
        "deepspeech": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "tensorflow": str(tf.__version__),
        "numpy": np.__version__,
        "system": platform.platform(),
        "processor": _processor(),
        "cores": usable_cores(),
        "bfloat16_products": has_bfloat16_products(),
        "gpus": tuple(_gpu_name(device) for device in tf.config.list_physical_devices("GPU")),
    }


def _write_graph(path: Path, graph: Any) -> None:
    events = (
        v1.Event(file_version="brain.Event:2"),
        v1.Event(graph_def=graph.as_graph_def(add_shapes=True).SerializeToString()),
    )
    with written_whole(path) as beside, tf.io.TFRecordWriter(os.fspath(beside)) as writer:
        for event in events:
            writer.write(event.SerializeToString())


def _commit() -> str:
    """Return the commit of the checkout that the program runs from, with + if it has changes; else an empty text."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    command = [
        "git",
        "--no-optional-locks",
        "-C",
        os.fspath(root),
        "describe",
        "--always",
        "--dirty=+",
        "--abbrev=12",
        "--exclude=*",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_FOR_GIT, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _gpu_name(device: Any) -> str:
    return str(tf.config.experimental.get_device_details(device).get("device_name", device.name))

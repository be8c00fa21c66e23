"""The graph of a training process: towers that train, towers that evaluate, and the step of all training towers."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import tensorflow as tf

from ..options import SessionOptions
from ..util.parallel import processor_limit, usable_cores
from ..util.signals import ended_by_signals
from .optimization.accumulation import Accumulation
from .optimization.step import Step, optimizer_step
from .towers import GraphSettings, Tower, build_towers, mean_gradients, summed_gradients

v1 = tf.compat.v1


@dataclass(frozen=True)
class TrainingGraph:
    """A graph and the handles into it. Without training, `train_towers` is empty and `train_step` None.

    If gradients are accumulated, `train_step` processes the last batches of a step, and `accumulate` those before.
    """

    graph: Any
    train_towers: tuple[Tower, ...]
    evaluate_towers: tuple[Tower, ...]
    train_step: Any  # operation: applies the mean gradient of the train towers
    gradient_norm: Any  # float32 scalar, finite if the gradients are
    global_step: Any  # int64 variable: steps applied
    learning_rate: Any = None  # float32 scalar to feed to a step; --learning_rate unless it is fed
    accumulate: Any = None  # operation: accumulates the gradients of the train towers
    batches_per_step: int = 1  # of each tower
    runs: Any = None  # int64 variable: runs of the train towers; None: as many as steps


class Session(v1.Session):  # type: ignore[name-defined, misc]
    """A session of TensorFlow that prints nothing if a signal's handler interrupts its construction."""

    _session = None  # TensorFlow's __del__ reads it even if __init__ did not set it


def build_training_graph(devices: Sequence[str], settings: GraphSettings) -> TrainingGraph:
    """Build the graph with towers on each device, such as "/gpu:0"."""
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(settings.random_seed)
        global_step = v1.train.get_or_create_global_step()
        if settings.optimizer is None:
            evaluate_towers = build_towers(devices, settings, training=False)
            return TrainingGraph(graph, (), evaluate_towers, None, None, global_step)
        train_towers = build_towers(devices, settings, training=True)
        several = settings.optimizer.accumulate_gradients
        accumulation = Accumulation(*summed_gradients(train_towers)) if several > 1 else None
        gradients = mean_gradients(train_towers) if accumulation is None else accumulation.means()
        gradient_norm = tf.linalg.global_norm([gradient for gradient, _ in gradients])
        step = optimizer_step(settings.optimizer, gradients, gradient_norm, global_step)
        with averages_in(step):
            evaluate_towers = build_towers(devices, settings, training=False)
        return TrainingGraph(
            graph,
            train_towers,
            evaluate_towers,
            step.apply if accumulation is None else accumulation.emptied_after(step.apply),
            gradient_norm,
            global_step,
            step.learning_rate,
            accumulate=accumulation and accumulation.add,
            batches_per_step=several,
            runs=accumulation and accumulation.batches_seen,
        )


def averages_in(step: Step | None) -> AbstractContextManager[Any]:
    """Return a context in which networks use the averages of the weights, if the step keeps averages."""
    return nullcontext() if step is None or step.averages is None else step.averages.in_place_of_weights()


def prepare_process(options: SessionOptions) -> None:
    """Set the options of the whole process, before it computes anything.

    These are the numbers of threads, which the first session fixes, and deterministic operations on a GPU; on the
    processor, operations are always deterministic. This costs no time on GPUs. A signal to stop ends the process.
    """
    with ended_by_signals():
        if tf.config.list_physical_devices("GPU"):
            tf.config.experimental.enable_op_determinism()
        if options.intra_op_threads or options.inter_op_threads:
            with Session(graph=tf.Graph(), config=session_config(options)) as session, session.graph.as_default():
                session.run(tf.constant(0) + 1)


def session_config(options: SessionOptions) -> Any:
    """Return the ConfigProto of a session with these options.

    By itself, TensorFlow computes with a thread for each core, also in a container that may use only a few of them.
    """
    threads = usable_cores() if processor_limit(Path("/")) < inf else 0
    return v1.ConfigProto(
        allow_soft_placement=True,
        log_device_placement=options.log_placement,
        inter_op_parallelism_threads=options.inter_op_threads,
        intra_op_parallelism_threads=options.intra_op_threads or threads,
    )

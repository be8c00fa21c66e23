"""The graph of a training process: towers that train, towers that evaluate, and the step on all towers that train."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ..network import Network
from ..options import OptimizerOptions, SessionOptions
from ..util.features import FeatureOptions
from .towers import PLAIN_FEATURES, Tower, adam, build_towers, mean_gradients

v1 = tf.compat.v1


@dataclass(frozen=True)
class TrainingGraph:
    """A graph and the handles into it. Without training, `train_towers` is empty and `train_step` None."""

    graph: Any
    train_towers: tuple[Tower, ...]
    evaluate_towers: tuple[Tower, ...]
    train_step: Any  # operation: applies the mean gradient of the train towers
    gradient_norm: Any  # float32 scalar, finite if the gradients are
    global_step: Any  # int64 variable: steps applied


class Session(v1.Session):  # type: ignore[name-defined, misc]
    """A session of TensorFlow that is silent if a signal's handler ends the making of it."""

    _session = None  # which TensorFlow's __del__ reads even if __init__ has not come to setting it


def build_training_graph(
    devices: Sequence[str],
    *,
    network: Network,
    optimizer_options: OptimizerOptions | None,
    session_options: SessionOptions,
    random_seed: int,
    features: FeatureOptions = PLAIN_FEATURES,
) -> TrainingGraph:
    """Build the graph with towers on each device, such as "/gpu:0"; without optimizer options, only to evaluate.

    Its towers normalize what they are fed with, if `features` say so.
    """
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(random_seed)
        global_step = v1.train.get_or_create_global_step()

        def towers(training: bool) -> tuple[Tower, ...]:
            return build_towers(
                devices,
                network=network,
                training=training,
                session_options=session_options,
                features=features,
            )

        train_towers: tuple[Tower, ...] = ()
        train_step = gradient_norm = None
        if optimizer_options is not None:
            train_towers = towers(training=True)
            gradients = mean_gradients(train_towers)
            gradient_norm = tf.linalg.global_norm([gradient for gradient, _ in gradients])
            train_step = adam(optimizer_options).apply_gradients(gradients, global_step=global_step)
        evaluate_towers = towers(training=False)
    return TrainingGraph(graph, train_towers, evaluate_towers, train_step, gradient_norm, global_step)


def fix_threads(options: SessionOptions) -> None:
    """Run a session with the options' numbers of threads, as those of the first session hold for the whole process."""
    if options.intra_op_threads or options.inter_op_threads:
        with Session(graph=tf.Graph(), config=session_config(options)) as session, session.graph.as_default():
            session.run(tf.constant(0) + 1)


def session_config(options: SessionOptions) -> Any:
    """Return the ConfigProto of a session with these options."""
    return v1.ConfigProto(
        allow_soft_placement=True,
        log_device_placement=options.log_placement,
        inter_op_parallelism_threads=options.inter_op_threads,
        intra_op_parallelism_threads=options.intra_op_threads,
    )

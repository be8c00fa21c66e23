"""A training step of `python -m deepspeech`, as `train_step.py` runs it: the program's graph, session and feeds."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from deepspeech.network import network
from deepspeech.options import (
    ConformerOptions,
    ConvolutionalOptions,
    LSTMOptions,
    ModelOptions,
    NetworkOptions,
    OptimizerOptions,
    SessionOptions,
)
from deepspeech.training.graph import TrainingGraph, build_training_graph, session_config
from deepspeech.training.towers import GraphSettings, compute_devices, feeds
from deepspeech.util.feeding import Batch

from .step import PRODUCT, Geometry, PeakMemory, serve

v1 = tf.compat.v1


def main() -> None:
    """Build the graph, then run steps on request."""
    geometry = Geometry(**json.loads(sys.argv[1]))
    memory = PeakMemory()
    with training_step(geometry) as (session, fetches, fed):
        serve(lambda: session.run(fetches, fed), large_product(geometry, session), memory)


@contextmanager
def training_step(geometry: Geometry) -> Iterator[tuple[Any, dict[str, Any], dict[Any, Any]]]:
    """Yield a session, and the fetches and feeds of a step on a batch of the geometry."""
    features, lengths, labels, _ = geometry.batch(np.random.default_rng(1))
    batch = Batch(range(geometry.batch_size), (), features, lengths, labels)
    with session_of(geometry, "on" if geometry.bfloat16 else "off") as (session, graph, fetches):
        yield session, fetches, feeds(graph.train_towers, [batch])


@contextmanager
def session_of(geometry: Geometry, mixed_precision: str) -> Iterator[tuple[Any, TrainingGraph, dict[str, Any]]]:
    """Yield a session with initial weights, its graph, and the program's fetches in a step."""
    options = SessionOptions(intra_op_threads=geometry.threads, mixed_precision=mixed_precision)
    settings = NetworkOptions(
        bidirectional=geometry.bidirectional,
        convolutions=geometry.convolutions,
        channels=geometry.channels,
        lstm=LSTMOptions(geometry.layers),
        conformer=ConformerOptions(geometry.layers),
        convolutional=ConvolutionalOptions(geometry.layers),
    )
    model = ModelOptions(geometry.n_hidden, network=geometry.network, settings=settings)
    some = network(model, geometry.coefficients, geometry.labels, geometry.step_ms)
    graph = build_training_graph(compute_devices()[:1], GraphSettings(some, options, 1, OptimizerOptions()))
    with v1.Session(graph=graph.graph, config=session_config(options)) as session:
        with graph.graph.as_default():
            session.run(v1.global_variables_initializer())
        yield (
            session,
            graph,
            {"losses": [graph.train_towers[0].losses], "step": graph.train_step, "norm": graph.gradient_norm},
        )


def large_product(geometry: Geometry, session: Any) -> Callable[[], object]:
    """Return a function that computes the matrix product whose speed is the machine's ceiling.

    The factors are created at the first call.
    """
    rows, depth, columns = PRODUCT
    precision = tf.bfloat16 if geometry.bfloat16 else tf.float32
    with session.graph.as_default():
        factors = [tf.Variable(tf.ones(shape, precision)) for shape in ((rows, depth), (depth, columns))]
        product = tf.matmul(*factors).op

    def compute() -> None:
        if not session.run(v1.is_variable_initialized(factors[0])):
            session.run([factor.initializer for factor in factors])
        session.run(product)

    return compute


if __name__ == "__main__":
    main()

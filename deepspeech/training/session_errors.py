"""Short messages for TensorFlow's errors, whose own messages are mostly about its graph."""

from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

from ..errors import TrainingError

GRAPH_TRACE_PREFIXES = (
    "Graph execution error",
    "Detected at node",
    "File ",
    "Node:",
    "Original stack trace",
    "[[",
    "====",
)
"""Beginnings of the lines of a message that locate an error in the graph."""

ADVICE_ON_MEMORY = (
    "lower --train_batch_size, --dev_batch_size or --n_hidden, or limit the frames of a batch by --batch_frames"
)


@contextmanager
def session_errors_in_words() -> Iterator[None]:
    """Replace an error that TensorFlow raises in a step on this machine by a TrainingError of one line."""
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        raise TrainingError(f"out of memory: {ADVICE_ON_MEMORY} ({summary(error)})") from error
    except tf.errors.OpError as error:
        raise TrainingError(f"a step failed: {summary(error)}") from error


def summary(error: tf.errors.OpError) -> str:
    """Return an error of TensorFlow in one line: its kind, and the first line of its message that is not on the graph.

    A line that ends with a colon, as the one that names the task, is joined with the next.
    """
    lines = [line.strip() for line in str(error.message).splitlines()]
    telling = [line for line in lines if line and not line.startswith(GRAPH_TRACE_PREFIXES)]
    end = next((number for number, line in enumerate(telling, 1) if not line.endswith(":")), len(telling))
    return f"{type(error).__name__}: {' '.join(telling[:end]) or 'TensorFlow gives no reason'}"

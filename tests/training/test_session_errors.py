"""The messages for TensorFlow's errors."""

import pytest
import tensorflow as tf

from deepspeech.errors import TrainingError
from deepspeech.training.session_errors import session_errors_in_words, summary

OF_THE_GRAPH = """Graph execution error:

Detected at node 'MatMul' defined at (most recent call last):
    File "train.py", line 8, in <module>
Node: 'MatMul'
Matrix size-incompatible: In[0]: [1,2], In[1]: [3,2]
\t [[{{node MatMul}}]]
"""
OF_A_SERVER = """Graph execution error:

From /job:ps/replica:0/task:0:
Socket closed
Additional GRPC error information from remote target /job:ps/replica:0/task:0:
:UNKNOWN:Error received from peer {grpc_message:"Socket closed", grpc_status:14}
"""
OF_SEVERAL = """Graph execution error:

=====================
FAILED_PRECONDITION: From /job:worker/replica:0/task:0:
Attempting to use uninitialized value v
\t [[{{node v_S0}}]]
=====================
"""


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (OF_THE_GRAPH, "UnavailableError: Matrix size-incompatible: In[0]: [1,2], In[1]: [3,2]"),
        (OF_A_SERVER, "UnavailableError: From /job:ps/replica:0/task:0: Socket closed"),
        (
            OF_SEVERAL,
            "UnavailableError: FAILED_PRECONDITION: From /job:worker/replica:0/task:0: "
            "Attempting to use uninitialized value v",
        ),
        ("", "UnavailableError: TensorFlow gives no reason"),
    ],
)
def test_an_error_of_tensorflow_is_told_in_one_line_with_where_it_came_from(message: str, said: str) -> None:
    assert summary(tf.errors.UnavailableError(None, None, message)) == said


def test_a_step_that_needs_more_memory_than_there_is_says_what_to_lower() -> None:
    with tf.Graph().as_default() as graph:
        count = tf.compat.v1.placeholder(tf.int64, [])
        numbers = tf.zeros(tf.stack([count]))
    with (
        tf.compat.v1.Session(graph=graph) as session,
        pytest.raises(
            TrainingError, match=r"^out of memory: lower --train_batch_size.* \(ResourceExhaustedError: .+\)$"
        ),
        session_errors_in_words(),
    ):
        session.run(numbers, {count: 1 << 50})


def test_a_step_that_fails_is_one_line() -> None:
    with tf.Graph().as_default() as graph:
        made = tf.debugging.check_numerics(tf.math.log(tf.zeros([2])), "no logarithm")
    with (
        tf.compat.v1.Session(graph=graph) as session,
        pytest.raises(TrainingError, match=r"^a step failed: InvalidArgumentError: no logarithm.*$"),
        session_errors_in_words(),
    ):
        session.run(made)

"""What nodes say of TensorFlow's errors, and the secret that they read."""

from pathlib import Path

import pytest
import tensorflow as tf

from deepspeech.cluster.node import is_of_a_server, read_token, summary
from deepspeech.errors import ClusterError
from deepspeech.options import ClusterOptions
from deepspeech.options.cluster import TOKEN_VARIABLE

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


def test_a_server_that_was_lost_while_a_checkpoint_was_saved_is_told_from_a_full_disk() -> None:
    assert is_of_a_server(tf.errors.UnavailableError(None, None, OF_A_SERVER))
    assert is_of_a_server(tf.errors.UnavailableError(None, None, "failed to connect; last error: Connection refused"))
    assert not is_of_a_server(tf.errors.UnknownError(None, None, "/data/train-7.data_temp; No space left on device"))
    assert not is_of_a_server(tf.errors.ResourceExhaustedError(None, None, "/data/train-7; No space left on device"))
    assert not is_of_a_server(tf.errors.NotFoundError(None, None, "/data/train-7; No such file or directory"))
    assert not is_of_a_server(OSError("no space"))
    assert not is_of_a_server(None)


def test_space_around_a_secret_is_not_a_part_of_it_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for written in (
        "a secret, 'quoted' = & 100 %",
        "a secret, 'quoted' = & 100 % ",
        "\ta secret, 'quoted' = & 100 %\r\n",
    ):
        monkeypatch.setenv(TOKEN_VARIABLE, written)
        (tmp_path / "token").write_text(written)
        of_file = read_token(ClusterOptions(token_file=tmp_path / "token"))
        assert read_token(ClusterOptions()) == of_file == "a secret, 'quoted' = & 100 %"
    for bad in (" " * 20, "two lines of\na secret that is long", "zu viele Umläute sind in diesem"):
        monkeypatch.setenv(TOKEN_VARIABLE, bad)
        with pytest.raises(ClusterError, match="must be one line of 16 or more ASCII characters"):
            read_token(ClusterOptions())

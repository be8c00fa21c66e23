"""How nodes classify TensorFlow's errors, and the secret that they read."""

import socket
from pathlib import Path

import pytest
import tensorflow as tf

from deepspeech.cluster.node import is_of_a_server, read_token, server_config, start_server
from deepspeech.errors import ClusterError
from deepspeech.options import ClusterOptions, Options
from deepspeech.options.cluster import TOKEN_VARIABLE


def test_a_server_that_was_lost_while_a_checkpoint_was_saved_is_told_from_a_full_disk() -> None:
    assert is_of_a_server(tf.errors.UnavailableError(None, None, "From /job:ps/replica:0/task:0:\nSocket closed"))
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


def test_a_parameter_server_takes_no_memory_of_its_machines_gpus() -> None:
    assert dict(server_config(Options(), ClusterOptions(job_name="ps")).device_count) == {"GPU": 0}
    assert not server_config(Options(), ClusterOptions(job_name="worker")).device_count


def test_a_port_that_is_taken_is_named_with_its_flag() -> None:
    with socket.create_server(("", 0)) as taken:
        host = f"localhost:{taken.getsockname()[1]}"
        cluster = ClusterOptions(parameter_servers=("localhost:1",), workers=(host,), job_name="worker")
        said = rf"^--worker_hosts: {host}: cannot listen on its port \(Address already in use\); stop the program"
        with pytest.raises(ClusterError, match=said):
            start_server(Options(), cluster)

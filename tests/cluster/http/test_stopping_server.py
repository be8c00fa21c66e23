"""A parameter server that is told to stop while the chief saves its weights."""

import os
import signal
import threading
import time
from unittest.mock import MagicMock

import pytest
from served import TOKEN, Served, serving

from deepspeech.cluster import parameter_server
from deepspeech.cluster.monitoring.node_record import NodeRecord, NodeState
from deepspeech.options import ClusterOptions, Options
from deepspeech.options.cluster import TOKEN_VARIABLE
from deepspeech.training.interruption import Interrupted


def stop_and_save(served: Served, record: NodeRecord, seconds: float, saved: threading.Event) -> None:
    """Tell this process to stop once it has joined as a parameter server; save its weights after `seconds`."""
    while record.state is not NodeState.READY:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(seconds)
    with served.service.locked() as coordinator:
        assert coordinator.members.that_must_go == ["ps 0"]
        saved.set()
        coordinator.members.let_go()


def test_it_keeps_them_for_as_long_as_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    saved, saved_when_it_had_to_end = threading.Event(), list[bool]()
    note = MagicMock(side_effect=lambda *_: saved_when_it_had_to_end.append(saved.is_set()))
    monkeypatch.setattr(parameter_server, "end_hard_after_signal", note)
    monkeypatch.setattr(parameter_server, "start_server", MagicMock())
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    record = NodeRecord()
    with serving() as served:
        cluster = ClusterOptions(
            parameter_servers=("a:2222",),
            workers=("b:2222",),
            job_name="ps",
            coordinator_host="127.0.0.1",
            coordinator_port=served.port,
        )
        chief = threading.Thread(target=stop_and_save, args=(served, record, 2.0, saved), daemon=True)
        chief.start()
        with pytest.raises(Interrupted, match="unless training is over, start this parameter server again"):
            parameter_server.serve_parameters(Options(cluster=cluster), cluster, record)
        assert saved_when_it_had_to_end == [True]
        chief.join()

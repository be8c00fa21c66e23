"""Nodes run the same code, or one of them is refused."""

import shutil
from pathlib import Path

import pytest

from deepspeech.cluster import properties
from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.errors import JoinRefusedError
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role, difference
from deepspeech.cluster.http.client import Address, Connection, join
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.cluster.properties import PACKAGE, code_property
from deepspeech.errors import ClusterError


def copied_package(folder: Path) -> Path:
    """Return the package's sources, without files that do not affect the code version."""
    return Path(shutil.copytree(PACKAGE, folder / "deepspeech", ignore=shutil.ignore_patterns("*.so", "__pycache__")))


@pytest.mark.parametrize(
    "name",
    [
        *("training/towers.py", "cluster/graph.py", "cluster/coordination/rounds.py", "options/model.py"),
        *("util/feeding.py", "decoder/of_alphabet.py"),
    ],
)
def test_a_changed_source_is_another_version(tmp_path: Path, name: str) -> None:
    package = copied_package(tmp_path)
    assert code_property(package) == code_property()
    with (package / name).open("a") as file:
        file.write("\n")
    assert code_property(package) != code_property()


def test_code_that_training_does_not_use_may_differ(tmp_path: Path) -> None:
    package = copied_package(tmp_path)
    (package / "serving" / "more.py").write_text("")
    assert code_property(package) == code_property()


def test_a_node_without_the_native_operations_that_others_have_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    required = code_property()
    monkeypatch.setattr(properties, "native_ops", lambda: None)
    assert difference(required, code_property()) == "its native library is missing, the chief's loaded"


@pytest.mark.parametrize("role", list(Role))
def test_a_node_of_another_version_is_refused_and_both_versions_named(role: Role) -> None:
    required = {each: code_property() for each in Role}
    ours = code_property()["code version"]
    coordinator = ClusterCoordinator(ClusterSettings(2, 1, 2, 2), required)
    with Server(Service(coordinator), "127.0.0.1", 0, None) as server:
        connection = Connection(Address("127.0.0.1", server.port, retries=2))
        with pytest.raises(JoinRefusedError) as refused:
            join(connection, Applicant(role, 0, "p", {"code version": "0.8.1 123456789abc"}))
        assert f"{role.value} 0 does not fit: its code version is 0.8.1 123456789abc, the chief's {ours};" in str(
            refused.value
        )
        assert not len(coordinator.members)
        join(connection, Applicant(role, 0, "p", code_property())).leave()


def test_a_node_whose_messages_an_earlier_version_refuses_says_that_versions_must_be_the_same() -> None:
    coordinator = ClusterCoordinator(ClusterSettings(2, 1, 2, 2), {each: code_property() for each in Role})
    more = {f"--flag_{number}": "1" for number in range(1000)}  # than this version accepts
    with Server(Service(coordinator), "127.0.0.1", 0, None) as server:
        connection = Connection(Address("127.0.0.1", server.port, retries=2))
        with pytest.raises(ClusterError, match=r"properties: .*; give every node the same version of this program"):
            join(connection, Applicant(Role.WORKER, 1, "p", more))

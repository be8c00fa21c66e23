"""The files of deploy/ say what is so: flags, paths, ports, figures and times."""

from __future__ import annotations

import json
import re
import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

import yaml

from deepspeech.cli.server import parser
from deepspeech.serving.server.access import OPEN_PATHS
from deepspeech.serving.server.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
PREFIX = "deepspeech-server"


def instruction(name: str) -> str:
    """Return what the last instruction of this name in the Dockerfile says."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    found: list[str] = re.findall(rf"^{name} +(.*)$", text, re.MULTILINE)
    return found[-1].strip()


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def unit() -> dict[str, str]:
    """Return the settings of the systemd unit."""
    lines = (DEPLOY / "deepspeech-server.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))


def manifests() -> dict[str, Any]:
    """Return the objects of the Kubernetes manifest by their kind."""
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    return {document["kind"]: document for document in documents}


def container() -> Any:
    (found,) = manifests()["Deployment"]["spec"]["template"]["spec"]["containers"]
    return found


def image_entry() -> list[str]:
    program, *flags = json.loads(instruction("ENTRYPOINT"))
    assert program == PREFIX
    return [str(flag) for flag in flags]


def started() -> dict[str, Namespace]:
    """Return the flags of every file's server, which the command understands."""
    program, *flags = shlex.split(unit()["ExecStart"])
    assert program.endswith(f"/{PREFIX}")
    commands = {
        "Dockerfile": [*image_entry(), *json.loads(instruction("CMD"))],
        "compose": [*image_entry(), *compose()["services"]["server"]["command"]],
        "unit": flags,
        "kubernetes": [*image_entry(), *container()["args"]],
    }
    return {name: parser().parse_args(command) for name, command in commands.items()}


def test_every_flag_is_one_of_the_commands() -> None:
    for name, flags in started().items():
        assert flags.token_file or name == "Dockerfile", name  # which leaves the token to whoever starts it


def test_ports_and_paths_are_those_of_the_server() -> None:
    assert {flags.port for flags in started().values()} == {8080}
    assert instruction("EXPOSE") == "8080"
    (checked,) = re.findall(r"http://127\.0\.0\.1:8080(/\w+)", instruction("HEALTHCHECK"))
    assert checked in OPEN_PATHS
    assert compose()["services"]["server"]["expose"] == ["8080"]
    assert "reverse_proxy server:8080" in (DEPLOY / "Caddyfile").read_text()
    assert {"name": "http", "containerPort": 8080} in container()["ports"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container()[probe]["httpGet"]
        assert asked["path"] in OPEN_PATHS
        assert asked["port"] == "http"


def test_the_image_decodes_what_telephones_and_browsers_record() -> None:
    assert re.search(r"apt-get install .*--no-install-recommends ffmpeg\b", instruction("RUN"))


def test_an_installation_without_a_container_has_the_packages_of_the_image_and_those_of_python() -> None:
    page = (DEPLOY.parent / "docs/deployment.md").read_text(encoding="utf-8")
    (given,) = re.findall(r"^apt-get install --no-install-recommends (.*)$", page, re.MULTILINE)
    image = re.findall(r"--no-install-recommends ([\w+ -]+?) *\\?$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert len(image) == 2
    assert set(given.split()) >= {"python3-dev", "python3-venv", *" ".join(image).split()}


def test_what_is_mounted_is_what_the_flags_name() -> None:
    flags = started()
    mounted = [mount["mountPath"] for mount in container()["volumeMounts"]]
    for path in (*flags["kubernetes"].model, str(flags["kubernetes"].token_file)):
        assert str(Path(path).parent) in mounted
    server = compose()["services"]["server"]
    assert str(Path(flags["compose"].model[0]).parent) in {volume.split(":")[1] for volume in server["volumes"]}
    assert str(flags["compose"].token_file).removeprefix("/run/secrets/") in server["secrets"]
    assert unit()["LoadCredential"].startswith("token:")


def test_the_server_has_time_to_let_people_finish() -> None:
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    wait = float(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    flags = started()
    assert pod["terminationGracePeriodSeconds"] > wait + flags["kubernetes"].drain_secs
    assert float(unit()["TimeoutStopSec"]) > flags["unit"].drain_secs
    assert float(compose()["services"]["server"]["stop_grace_period"].rstrip("s")) > flags["compose"].drain_secs


def test_it_grows_with_the_streams() -> None:
    (metric,) = manifests()["HorizontalPodAutoscaler"]["spec"]["metrics"]
    figures = Metrics().text()[0].decode()
    assert f"\n{metric['pods']['metric']['name']} " in figures
    assert float(metric["pods"]["target"]["averageValue"]) < started()["kubernetes"].max_streams


def test_objects_belong_together() -> None:
    found = manifests()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == found["Deployment"]["metadata"]["name"]


def test_nothing_runs_with_rights_it_does_not_need() -> None:
    assert int(instruction("USER").split(":")[0]) > 0
    assert container()["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert compose()["services"]["server"]["cap_drop"] == ["ALL"]
    assert unit()["DynamicUser"] == "yes"

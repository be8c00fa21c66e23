"""The examples of docs/cluster.md, as far as they can be tried on one machine."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deepspeech.cli import flags
from deepspeech.options import ClusterOptions, Options, flags_of

PAGE = (Path(__file__).parents[2] / "docs/cluster.md").read_text(encoding="utf-8")


def block(language: str, beginning: str = "") -> str:
    found = re.search(rf"^```{language}\n({beginning}.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def cluster_of(arguments: list[str]) -> ClusterOptions:
    options = flags.parse(arguments)
    assert options is not None
    assert options.in_cluster
    return options.cluster


def arguments_given(script: str, folder: Path) -> list[str]:
    """Return the arguments that a shell script passes to the trainer."""
    program = folder / "deepspeech-train"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    path = f"{folder}:/usr/bin:/bin"
    finished = subprocess.run(["sh", "-c", script], env={"PATH": path}, capture_output=True, text=True, check=True)
    return finished.stdout.splitlines()


def test_every_flag_that_the_page_names_exists() -> None:
    defined = {row.name for row in flags_of(Options) if row.on_command_line}
    named = set(re.findall(r"--([a-z][a-z_0-9]*)\b(?!-)", PAGE))
    assert len(named) > 15
    assert named <= defined


def test_the_command_is_one_that_the_program_understands() -> None:
    command = block("sh", "deepspeech-train").replace("\\\n", " ").replace("...", "")
    assert cluster_of(command.split()[1:]).workers == ("b:2222", "c:2222")


def test_the_systemd_unit_is_valid(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze: install Debian's systemd")
    (tmp_path / "deepspeech@ps-0.service").write_text(block("ini"))
    finished = subprocess.run(
        [analyze, "verify", tmp_path / "deepspeech@ps-0.service"], capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.parametrize(("instance", "job", "task"), [("ps-0", "ps", 0), ("worker-1", "worker", 1)])
def test_the_systemd_unit_starts_the_node_that_its_instance_names(
    tmp_path: Path, instance: str, job: str, task: int
) -> None:
    script = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", block("ini"), re.MULTILINE)
    environment = re.search(r"^FLAGS=(.*)$", block("sh", "FLAGS="), re.MULTILINE)
    assert script is not None
    assert environment is not None
    command = script[1].replace("%%", "%").replace("%i", instance).replace("$$", "$")
    command = command.replace("/opt/deepspeech/bin/", "").replace("$FLAGS", environment[1])
    cluster = cluster_of(arguments_given(command, tmp_path))
    assert (cluster.job_name, cluster.task) == (job, task)

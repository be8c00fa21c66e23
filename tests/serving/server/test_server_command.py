"""The command `deepspeech-server`: its flags, its signals, TLS, and what it does not load."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from openai import OpenAI
from server_process import ROOT, running, started, waited_for
from serving_in_thread import PATIENCE, Samples, final, rest, samples_of, say, tell, told, told_first, until
from websockets.sync.client import connect

from deepspeech import Model
from deepspeech.cli import server
from deepspeech.errors import FlagError
from deepspeech.serving.server.options import Limits, ServerOptions
from deepspeech.serving.server.running import listen
from deepspeech.serving.server.utterances import PIECE_SECONDS


def handling(process: subprocess.Popen[bytes], kind: str, number: signal.Signals) -> bool:
    """Return whether a process blocks (SigBlk) or catches (SigCgt) a signal, as Linux reports it."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    mask = re.search(rf"{kind}:\s+(\w+)", status)
    assert mask is not None
    return bool(int(mask.group(1), 16) >> (number - 1) & 1)


def samples_until_partial(model: Model, samples: Samples) -> int:
    """Return the number of samples after which the server has a partial, even if it waits for a whole piece."""
    stream, piece = model.createStream(), int(PIECE_SECONDS * model.sampleRate())
    for start in range(0, len(samples), piece):
        stream.feedAudioContent(samples[start : start + piece])
        if stream.intermediateDecode().strip():
            return start + 2 * piece
    pytest.fail("the model hears nothing in this recording")


def parsed(*flags: str) -> ServerOptions:
    return server.options_of(server.parser().parse_args(flags))


@pytest.mark.skipif(os.sched_getscheduler(0) != os.SCHED_OTHER, reason="the tests have a scheduling of their own")
def test_no_thread_of_the_server_that_wakes_up_interrupts_one_that_computes(graph_file: Path, tmp_path: Path) -> None:
    with running(f"--model={graph_file}", log=tmp_path / "log") as (process, address):
        with connect(address.replace("http", "ws") + "/v1/stream") as stream:
            say(stream, np.zeros(8000, np.int16))
            tell(stream, "finish")
            assert final(stream)["text"] == ""
        threads = [int(each.name) for each in Path(f"/proc/{process.pid}/task").iterdir()]
        at_work = [each for each in threads if os.sched_getscheduler(each) == os.SCHED_BATCH]
        assert process.pid in at_work and len(at_work) > 1  # numpy's threads, which are older, are idle


def test_hot_words_of_clients_do_not_fill_the_log(
    graph_file: Path, scorer_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    flags, log = (f"--model={graph_file}", f"--scorer={scorer_file}"), tmp_path / "log"
    with running(*flags, log=log) as (_, address), connect(address.replace("http", "ws") + "/v1/stream") as stream:
        tell(stream, "start", hot_words={f"not spelled {number}": 1.0 for number in range(1000)})
        tell(stream, "finish")
        assert [told(stream)["type"], told(stream)["type"]] == ["ready", "warning"]
        assert final(stream)["text"] == ""
        with OpenAI(api_key="none", base_url=f"{address}/v1", timeout=PATIENCE) as client:
            client.audio.transcriptions.create(file=recordings[0], model="deepspeech", keywords=["über"])
        assert len(log.read_text().splitlines()) == 1  # where it serves


def test_signals_reload_the_models_and_end_the_server_when_all_is_said(
    graph_file: Path, recordings: list[Path], model: Model, tmp_path: Path
) -> None:
    graph, fresh = tmp_path / "graph.pb", tmp_path / "fresh.pb"
    shutil.copy(graph_file, graph)
    spoken, log = samples_of(recordings[0]), tmp_path / "log"
    beginning = samples_until_partial(model, spoken)
    with running(f"--model=first={graph}", f"--model=second={graph_file}", log=log) as (process, address):
        url = address.replace("http", "ws") + "/v1/stream"
        assert "tensorflow" not in Path(f"/proc/{process.pid}/maps").read_text()
        with connect(url) as stream, connect(f"{url}?model=second") as other:
            say(stream, spoken[:beginning])
            assert [told(stream)["type"], told(stream)["type"]] == ["ready", "partial"]

            graph.write_bytes(b"no graph")  # a bad file is refused, and the old model stays
            process.send_signal(signal.SIGHUP)
            refusal = waited_for(log, r"(first: .*)")
            assert "not reloaded" in refusal and str(graph) in refusal and "Traceback" not in log.read_text()
            metrics = urllib.request.urlopen(f"{address}/metrics", timeout=PATIENCE).read().decode()
            assert 'reload_failures_total{model="first"} 1.0' in metrics

            shutil.copy(graph_file, fresh)
            fresh.replace(graph)
            process.send_signal(signal.SIGHUP)
            assert waited_for(log, r"(2 of 2)")

            say(stream, spoken[beginning:])
            tell(stream, "finish")
            assert final(stream)["text"] == model.transcribe(spoken).text

            say(other, spoken)
            assert [told(other)["type"], told(other)["type"]] == ["ready", "partial"]
            process.send_signal(signal.SIGTERM)
            assert rest(other)[-1]["type"] == "final"
            assert other.close_code == 1001
            assert rest(stream) == [] and stream.close_code == 1001
        assert process.wait(PATIENCE) == 0


def test_a_server_ends_though_a_thread_does_not_come_to_its_end(graph_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    before = """
import sys, time
from deepspeech.serving.server.utterances import Utterances
Utterances.hear = lambda *_, **__: print("heard", file=sys.stderr) or time.sleep(600)
"""
    with (
        running(f"--model={graph_file}", "--drain_secs=0.1", log=log, before=before) as (process, address),
        connect(address.replace("http", "ws") + "/v1/stream") as stream,
    ):
        say(stream, np.zeros(80_000, np.int16))
        waited_for(log, "(heard)")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_a_signal_to_reload_that_comes_early_waits_until_the_server_serves(graph_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with started(f"--model={graph_file}", log=log) as process:
        until(lambda: handling(process, "SigBlk", signal.SIGHUP))
        process.send_signal(signal.SIGHUP)
        waited_for(log, r"(serving[^$]+loaded again: 1 of 1)")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_still_loads_ends_as_one_that_serves(
    number: signal.Signals, graph_file: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with started(*(f"--model={each}={graph_file}" for each in range(300)), log=log) as process:
        until(lambda: handling(process, "SigBlk", signal.SIGHUP) and handling(process, "SigCgt", signal.SIGTERM))
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
    assert log.read_text() == ""


def made_certificate(folder: Path, *protection: str) -> tuple[Path, Path]:
    """Return a certificate and its key, which is encrypted if flags of openssl for that are given."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder.mkdir(exist_ok=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *(protection or ["-nodes"]), *subject]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


def test_a_certificate_and_a_key_that_cannot_be_used_are_refused_before_anybody_connects(
    graph_file: Path, tmp_path: Path
) -> None:
    certificate, key = made_certificate(tmp_path / "one")
    _, another = made_certificate(tmp_path / "another")
    _, encrypted = made_certificate(tmp_path / "encrypted", "-passout", "pass:secret")
    first = f"the first certificate in --tls_certificate={certificate}"
    for pair, message in (
        ((graph_file, key), f"--tls_certificate={graph_file}: there is no certificate in it"),
        ((key, certificate), f"--tls_certificate={key}: there is no certificate in it"),
        ((certificate, certificate), f"--tls_key={certificate}: no key for --tls_certificate={certificate} ("),
        ((certificate, another), f"--tls_key={another}: the key is not that of {first}; give its key, or move it "),
        ((certificate, encrypted), f"--tls_key={encrypted}: the key is encrypted; "),
    ):
        with pytest.raises(FlagError) as refused:
            parsed(f"--model={graph_file}", f"--tls_certificate={pair[0]}", f"--tls_key={pair[1]}")
        assert str(refused.value).startswith(message) and "\n" not in str(refused.value)
    options = parsed(f"--model={graph_file}", f"--tls_certificate={certificate}", f"--tls_key={key}")
    assert options.tls_certificate == certificate


def test_connections_are_encrypted_with_a_certificate(graph_file: Path, tmp_path: Path) -> None:
    certificate, key = made_certificate(tmp_path)
    flags = [f"--model={graph_file}", f"--tls_certificate={certificate}", f"--tls_key={key}"]
    context = ssl.create_default_context(cafile=certificate)
    with running(*flags, log=tmp_path / "log") as (process, address):
        with urllib.request.urlopen(f"{address}/healthz", context=context, timeout=PATIENCE) as answer:
            assert answer.status == 200
        assert told_first(address.replace("https", "wss") + "/v1/stream", context)["model"] == "deepspeech"
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"{address}/healthz", timeout=PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert len((tmp_path / "log").read_text().splitlines()) == 1  # where it serves


def test_the_operator_is_told_of_a_certificate_that_has_expired(graph_file: Path, tmp_path: Path) -> None:
    fresh, key = made_certificate(tmp_path)
    certificate = tmp_path / "expired.pem"
    command = ["openssl", "x509", "-in", fresh, "-signkey", key, "-days", "0", "-out", certificate]
    subprocess.run([str(each) for each in command], check=True, capture_output=True)
    flags = [f"--model={graph_file}", f"--tls_certificate={certificate}", f"--tls_key={key}"]
    with running(*flags, log=tmp_path / "log"):
        said, _ = (tmp_path / "log").read_text().splitlines()
    assert said == (
        f"deepspeech-server: --tls_certificate={certificate}: certificate has expired; clients will refuse it"
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--model=/nowhere.pb"], "--model=/nowhere.pb: there is no such file"),
        (["--model=s3://bucket/a.pb"], "--model=s3://bucket/a.pb: is an address; download it"),
        (["--model=~nobody.here/a.pb"], "--model=~nobody.here/a.pb: there is no such file"),
        (["--model=/dev/null"], "--model=/dev/null: not a file"),
        (["--model={graph}", "--model={graph}"], "--model={graph}: there is another one of this name"),
        (["--model=a={graph}", "--model=a={graph}"], "there is another one of this name"),
        (["--model=={graph}"], "must be a path, or NAME=PATH"),
        (["--model={graph}", "--scorer=b={graph}"], "--scorer=b=…: there is no --model of this name"),
        (["--model={graph}", "--scorer=/nowhere"], "--scorer=/nowhere: there is no such file"),
        (["--model={graph}", "--scorer=/dev"], "--scorer=/dev: is a folder; name a file in it"),
        (["--model={graph}", "--port=70000"], "--port=70000: must be 0 to 65535"),
        (["--model={graph}", "--max_streams=0"], "--max_streams=0: must be a number of 1 or more"),
        (["--model={graph}", "--idle_seconds=nan"], "--idle_seconds=nan: must be a number of 0.1 or more"),
        (["--model={graph}", "--max_file_seconds=inf"], "--max_file_seconds=inf: must be at most 1000000000"),
        (["--model={graph}", "--max_pending_seconds=1e308"], "--max_pending_seconds=1e+308: must be at most"),
        (["--model={graph}", "--drain_secs=-1"], "--drain_secs=-1.0: must be 0 or more"),
        (["--model={graph}", "--tls_key={graph}"], "--tls_certificate and --tls_key: give both or neither"),
        (["--model={graph}", "--host=0.0.0.0"], "--host=0.0.0.0: beyond this machine a secret is needed"),
        (["--model={graph}", "--host=nobody.invalid"], "--host=nobody.invalid: no such host"),
        (["--model={graph}", "--host=a..b"], "--host=a..b: no such host"),
        (
            ["--model={graph}", "--token_file=/nowhere"],
            "--token_file=/nowhere: cannot be read (No such file or directory)",
        ),
        (["--model={graph}", "--token_file={short}"], "must be one line of 16 or more ASCII characters"),
        (["--model={graph}", "--allowed_origins=example.org"], "--allowed_origins=example.org: no browser sends this"),
        (["--model={graph}", "--allowed_origins=*,https://a.org/"], "--allowed_origins=https://a.org/: no browser"),
        (["--model={graph}", "--allowed_origins=https://a.org:443"], "it must be as https://example.org, or * for any"),
        (["--model={graph}", "--allowed_hosts=https://x.org"], "--allowed_hosts=https://x.org: no browser sends this"),
        (["--model={graph}", "--allowed_hosts=x.org:80"], "it must be a name alone, as example.org, or * for any"),
        (["--model={graph}", "--colour=red"], "unrecognized arguments: --colour=red"),
    ],
)
def test_flags_that_make_no_sense_are_refused_before_a_model_is_loaded(
    flags: list[str], message: str, graph_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "short").write_text("secret\n")
    names = {"graph": graph_file, "short": tmp_path / "short"}
    with pytest.raises(FlagError) as refused:
        parsed(*(flag.format(**names) for flag in flags))
    assert message.format(**names) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_port_that_is_taken_is_told_with_the_flags_that_chose_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FlagError) as refused:
            listen("127.0.0.1", port)
    expected = "the server cannot listen (Address already in use); choose another address or port"
    assert str(refused.value) == f"--host=127.0.0.1 --port={port}: {expected}"


def test_flags_become_options(graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(server.TOKEN_VARIABLE, "a secret of enough characters")
    graph = f"--model={graph_file}"
    options = parsed(graph, f"--model=b={graph_file}", f"--scorer=b={graph_file}", "--host=0.0.0.0", "--max_streams=7")
    assert [(each.name, each.scorer) for each in options.models] == [("deepspeech", None), ("b", graph_file)]
    assert options.token == "a secret of enough characters" and options.limits.max_streams == 7
    assert [each.scorer for each in parsed(graph, f"--scorer={graph_file}").models] == [graph_file]
    assert parsed(graph, "--allowed_hosts=a.example, B.example").allowed_hosts == ("a.example", "B.example")
    origins = ("https://a.example", "http://a.example:8080", "http://[::1]:81", "app://obsidian.md", "null", "*")
    assert parsed(graph, f"--allowed_origins={','.join(origins)}").allowed_origins == origins


def test_the_command_says_in_one_line_what_is_wrong(tmp_path: Path, graph_file: Path) -> None:
    bad, log = tmp_path / "bad.pb", tmp_path / "log"
    bad.write_bytes(b"no graph at all")
    for flags in ([f"--model={bad}"], [f"--model={graph_file}", f"--scorer={bad}"]):
        with started(*flags, log=log) as process:  # not in this process, as it would change its scheduling permanently
            assert process.wait(PATIENCE) == 1
        error = log.read_text()
        assert error.startswith("deepspeech-server: ") and str(bad) in error and error.count("\n") == 1


def test_every_limit_is_in_the_documentation_with_its_default_and_its_meaning() -> None:
    page = (ROOT / "docs/server.md").read_text(encoding="utf-8").replace("`", "")
    for each in fields(Limits):
        assert f"| --{each.name} | {each.default:g} | {each.metadata['help']}" in page

"""Files on a web server for those who may have them: by a signature, or by a name and a password."""

from __future__ import annotations

import sys
from base64 import b64encode
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote

import pytest
from corpora import TinyCorpus
from web_server import served
from xdg import BaseDirectory

from deepspeech.cli.importing.shards import main as write_shards
from deepspeech.util.corpus import read_corpus
from deepspeech.util.errors import CorpusError, StorageError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.storage.copies import named_for_all
from deepspeech.util.storage.store import Store
from deepspeech.util.text import Alphabet

MFCC = front_end(FeatureOptions(feature_type="psf"))

SIGNATURE = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20261122%2Fs3&X-Amz-Signature={'4f' * 100}"


class Guarded(SimpleHTTPRequestHandler):
    """Gives what it is asked for only to those who may have it."""

    refusal = 403

    def do_GET(self) -> None:
        super().do_GET() if self.may_have() else self.send_error(self.refusal)

    def do_HEAD(self) -> None:
        super().do_HEAD() if self.may_have() else self.send_error(self.refusal)

    def may_have(self) -> bool:
        """Return whether the address has the signature."""
        return unquote(self.path).endswith(f"?{unquote(SIGNATURE)}")


@pytest.fixture
def labels(tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alphabet:
    """Put a recording into the folder to serve, `a.wav`, and copies below it; return the alphabet of transcripts."""
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    (tmp_path / "a.wav").symlink_to(min((tiny_corpus.test.parent / "wav").glob("test-*.wav")))
    return Alphabet.load(tiny_corpus.alphabet)


@pytest.mark.parametrize("name", ["test.csv", "test.jsonl", "shard-{000000..000001}.tar"])
def test_addresses_may_have_long_signatures_behind_what_tells_the_kind_of_a_file(
    tiny_corpus: TinyCorpus, labels: Alphabet, tmp_path: Path, name: str
) -> None:
    assert write_shards([str(tiny_corpus.test), f"--to={tmp_path / 'shard'}", "--shard_mb=0.05"]) == 0
    with served(partial(Guarded, directory=str(tmp_path))) as address:
        recording = f"{address}/a.wav?{SIGNATURE}"
        (tmp_path / "test.csv").write_text(f"wav_filename,transcript\n{recording},a\n")
        (tmp_path / "test.jsonl").write_text(f'{{"audio_filepath": "{recording}", "text": "a"}}\n')
        corpus = read_corpus([Path(f"{address}/{name}?{SIGNATURE}")], labels, MFCC, progress=False)
    assert len(corpus) == (6 if ".tar" in name else 1)


class Protected(Guarded):
    refusal = 401

    def may_have(self) -> bool:
        """Return whether the user is known, and the password right."""
        return self.headers["Authorization"] == f"Basic {b64encode(b'ann:o pen@').decode()}"


@pytest.mark.parametrize(
    "given",
    [
        "in the address",
        pytest.param(
            "in the file netrc",
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 reads no quoted passwords there"),
        ),
    ],
)
def test_a_password_gives_access_and_is_told_nobody(
    labels: Alphabet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    (tmp_path / "test.csv").write_text("wav_filename,transcript\na.wav,a\nnone.wav,a\n")
    (tmp_path / "netrc").write_text('machine 127.0.0.1 login ann password "o pen@"\n')
    user = "ann:o%20pen%40@" if given == "in the address" else ""
    if not user:
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with served(partial(Protected, directory=str(tmp_path))) as address:
        with_user = address.replace("://", f"://{user}")
        with pytest.raises(CorpusError, match=rf"{address}/test.csv:3: {address}/none.wav: ") as refused:
            read_corpus([Path(f"{with_user}/test.csv")], labels, MFCC, progress=False)
        assert "pen" not in str(refused.value)
        (tmp_path / "test.csv").write_text("wav_filename,transcript\na.wav,a\n")
        (utterance,) = read_corpus([Path(f"{with_user}/test.csv")], labels, MFCC, progress=False)
        assert named_for_all(utterance.path) == f"{address}/a.wav"
        with pytest.raises(StorageError, match=f"^{address}/none: the answer was 401"):
            Store(0).about(f"{address.replace('://', '://ann:close@')}/none")
    assert not [path for path in tmp_path.rglob("*") if "pen" in path.name]


def test_a_netrc_that_cannot_be_read_is_no_line_at_each_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "netrc").write_text("nonsense\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with served(partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as address:
        assert Store(0).about(f"{address}/netrc").size == 9
    assert caplog.messages == []

"""The server's page in a real browser, whose microphone plays a file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser_fixture import chromium
from corpora import RATE, say, write_wav
from serving_in_thread import PATIENCE, Served, serving

from deepspeech import Model
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServedModel
from deepspeech.serving.subtitles import cues, srt, webvtt
from deepspeech.serving.transcripts import TimedWord

SPOKEN = "ace bed cab"
PHONE = {"width": 360, "height": 780}
TOKEN = "a secret of enough characters"
REFUSE = "() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError') } }"
DROPPED = """files => files.reduce((dropped, [name, content]) => {
  dropped.items.add(new File([Uint8Array.from(atob(content), byte => byte.charCodeAt())], name));
  return dropped;
}, new DataTransfer())"""

LOSE_A_CONNECTION = """async () => {
  const { LiveStream } = await import("/page/live_stream.js");
  const sockets = [], finals = [];
  window.WebSocket = class {
    constructor() { this.sent = []; sockets.push(this); }
    send(message) { if (message instanceof Int16Array) this.sent.push([...message]); }
    close() {}
    get(message) { this.onmessage({ data: JSON.stringify(message) }); }
  };
  const final = ({ text, start, end, words }) => finals.push([text, start, end, words[0].start]);
  const stream = new LiveStream("tiny", 100, {}, { final, partial() {}, waiting() {}, connected() {}, failed() {} });
  const say = number => stream.send(new Int16Array(10).fill(number)); // a tenth of a second
  say(1);
  sockets[0].get({ type: "ready" });
  [2, 3].forEach(say);
  sockets[0].get({ type: "final", text: "a", start: 0, end: 0.2, words: [{ word: "a", start: 0.05, end: 0.1 }] });
  sockets[0].onclose({ code: 1006 });
  say(4);
  while (sockets.length < 2) await new Promise(resolve => setTimeout(resolve, 10));
  sockets[1].get({ type: "ready" });
  say(5);
  sockets[1].get({ type: "final", text: "b", start: 0, end: 0.2, words: [{ word: "b", start: 0.1, end: 0.2 }] });
  return { first: sockets[0].sent, second: sockets[1].sent, finals };
}"""

FINISH_UNANSWERED = """async () => {
  const { LiveStream } = await import("/page/live_stream.js");
  const later = window.setTimeout, failures = [];
  window.WebSocket = class { send() {} close() {} };
  window.setTimeout = (call, milliseconds) => later(call, milliseconds / 100);
  const stream = new LiveStream("tiny", 100, {}, { failed: error => failures.push(error.message) });
  stream.send(new Int16Array(10));
  await stream.finish();
  return failures;
}"""

SHOW_AND_SAVE = """async ({ phrases, text }) => {
  const [{ Recording }, { formats }] = [await import("/page/recording.js"), await import("/page/formats.js")];
  const utterance = { text, start: 0, words: phrases.map((word, n) => ({ word, start: n, end: n + 0.5 })) };
  const recording = new Recording("", "");
  for (const start of [0, 3599.9996, 3725]) recording.add({ ...utterance, start });
  const times = [...recording.article.querySelectorAll(".time")].map(time => time.textContent);
  return [recording.part(".words p").textContent, times, formats.srt.write([utterance])];
}"""
SHOW_ARABIC = """async () => {
  const { Recording } = await import("/page/recording.js");
  const words = "مرحبا بكم جميعا".split(" ").map((word, n) => ({ word, start: n, end: n + 1, confidence: 0.9 }));
  new Recording("test", "test", "ar").add({ text: "مرحبا بكم جميعا", start: 0, end: 3, words });
}"""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of SPOKEN, with the noise of an empty room before and after."""
    random = np.random.default_rng(3)
    room = random.normal(0, 0.003, RATE).astype(np.float32)
    heard = np.concatenate([room, say(SPOKEN, random), room])
    return write_wav(tmp_path_factory.mktemp("spoken") / "spoken.wav", heard)


@pytest.fixture(scope="module")
def speaker(spoken: Path) -> Iterator[Any]:
    """Return a browser whose microphone plays SPOKEN again and again: a busy machine may lose some of it."""
    file = f"--use-file-for-fake-audio-capture={spoken}"
    with chromium("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", file) as browser:
        yield browser


@pytest.fixture(scope="module")
def models(graph_file: Path) -> Models:
    return Models([ServedModel("tiny", graph_file)])


@contextmanager
def opened(browser: Any, served: Served, expected: str = "Ready", **options: Any) -> Iterator[Any]:
    """Return the page, in its own session of the browser, once it has the expected state."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{served.url}/")
    page.wait_for_selector(f"#state:text-is('{expected}')")
    yield page
    context.close()


def downloaded(page: Any, kind: str) -> str:
    with page.expect_download() as download:
        page.click(f".saving [data-format={kind}]")
    assert download.value.suggested_filename.endswith(f".{kind}")
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_page_shows_and_saves_what_the_microphone_hears(speaker: Any, models: Models) -> None:
    with serving(models) as served, opened(speaker, served, viewport=PHONE) as page:
        problems: list[str] = []
        requested: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: requested.append(request.url))
        page.reload()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "speak"
        page.keyboard.press("Enter")
        page.wait_for_selector("#state:text-is('Listening')")
        page.wait_for_selector(f".partial:has-text('{SPOKEN}')")
        page.wait_for_timeout(500)  # the end of it is still to arrive
        page.keyboard.press("Enter")
        page.wait_for_selector("#state:text-is('Ready')")
        text = " ".join(page.locator(".word").all_inner_texts())
        assert SPOKEN in text
        assert page.inner_text(".partial") == ""
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

        page.focus(".word[tabindex='0']")
        page.keyboard.press("ArrowRight")
        assert re.match(r"\d\.\d\d to \d\.\d\d s", page.inner_text("#tip"))
        assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
        page.keyboard.press("End")
        assert page.evaluate("document.activeElement.textContent") == text.split()[-1]

        utterances = json.loads(downloaded(page, "json"))["utterances"]
        words = [TimedWord(each["word"], each["start"], each["end"]) for one in utterances for each in one["words"]]
        assert " ".join(word.text for word in words) == text
        assert downloaded(page, "txt").split() == text.split()
        assert downloaded(page, "srt") == srt(cues(words))
        assert downloaded(page, "vtt") == webvtt(cues(words))
        assert problems == []
        assert {urlsplit(url).netloc for url in requested if url[:5] != "blob:"} == {f"127.0.0.1:{served.port}"}


def test_recordings_are_transcribed_where_they_are_dropped(
    speaker: Any, models: Models, model: Model, spoken: Path
) -> None:
    expected = model.transcribe(spoken)
    with serving(models) as served, opened(speaker, served) as page:
        contents = {"first.wav": spoken.read_bytes(), "no sound.txt": b"no sound"}
        files = [[name, base64.b64encode(content).decode()] for name, content in contents.items()]
        dropped = page.evaluate_handle(DROPPED, files)
        page.dispatch_event("main", "dragover", {"dataTransfer": dropped})
        assert page.is_visible("#drop")
        page.dispatch_event("main", "drop", {"dataTransfer": dropped})
        assert not page.is_visible("#drop")
        page.wait_for_selector("article:has-text('no sound.txt') .progress:has-text('recording')")
        page.wait_for_selector("article:has-text('first.wav') .progress:text-is('Done')")
        assert page.locator(".word").all_inner_texts() == [word.text for word in expected.words]
        page.set_input_files("#files", spoken)
        page.wait_for_selector("article:has-text('spoken.wav') .progress:text-is('Done')")


def test_the_page_asks_for_the_token_where_there_is_one(speaker: Any, models: Models) -> None:
    with serving(models, token=TOKEN) as served, opened(speaker, served, expected="Locked") as page:
        for given in ("a secret with 密 in it", "a wrong secret of enough characters", f" {TOKEN} "):
            page.fill("#token_value", given)
            page.keyboard.press("Enter")
            page.wait_for_selector("#problem:has-text('wrong')" if TOKEN not in given else "#state:text-is('Ready')")
        assert not page.is_visible("#token")
        page.click("#speak")
        page.wait_for_selector("#state:text-is('Listening')")
        page.click("#speak")
        page.wait_for_selector("#state:text-is('Ready')")


def test_what_goes_wrong_is_said(speaker: Any, models: Models) -> None:
    with serving(models, Limits(max_streams=1)) as served:
        with opened(speaker, served) as first, opened(speaker, served) as second:
            first.click("#speak")
            first.wait_for_selector("#state:text-is('Listening')")
            second.click("#speak")
            second.wait_for_selector("#state:has-text('full')")
            first.click("#speak")
            second.wait_for_selector("#state:text-is('Listening')")
        with opened(speaker, served) as third:
            third.evaluate("() => { AudioWorklet.prototype.addModule = async () => { throw new DOMException() } }")
            third.click("#speak")
            third.wait_for_selector("#problem:has-text('server cannot be reached')")
            third.evaluate(REFUSE)
            third.click("#speak")
            third.wait_for_selector("#problem:has-text('microphone was refused')")
            assert third.inner_text("#state") == "Ready"


def test_a_model_that_needs_whole_recordings_is_not_spoken_to(speaker: Any, models: Models) -> None:
    described = {"id": "whole", "rate": 16000, "streams": False, "language": ""}
    with serving(models) as served, opened(speaker, served) as page:
        page.route("**/v1/models", lambda route: route.fulfill(json={"data": [described]}))
        page.reload()
        page.wait_for_selector("#state:text-is('Ready')")
        page.click("#speak")
        page.wait_for_selector("#problem:has-text('The model whole needs whole recordings: transcribe files')")
        assert page.inner_text("#speak") == "Start speaking" and page.locator("article").count() == 0


def test_arabic_runs_from_right_to_left_and_is_told_to_be_arabic(speaker: Any, models: Models) -> None:
    with serving(models) as served, opened(speaker, served) as page:
        page.evaluate(SHOW_ARABIC)
        first, second, third = (page.locator(".word").nth(number).bounding_box()["x"] for number in range(3))
        assert first > second > third > page.locator(".words").bounding_box()["x"] + 100  # at the right margin
        assert page.locator(".time").bounding_box()["x"] > first
        assert page.get_attribute(".words", "lang") == page.get_attribute(".partial", "lang") == "ar"
        page.focus(".word[tabindex='0']")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.textContent") == "بكم"


def test_phrases_of_a_script_without_spaces_are_shown_and_saved_without_them(speaker: Any, models: Models) -> None:
    phrases = ["你好", "世界", "cloud", "nine\n\n", "上", "𠀀", "\n"]
    with serving(models) as served, opened(speaker, served) as page:
        shown, times, saved = page.evaluate(SHOW_AND_SAVE, {"phrases": phrases, "text": "…"})
        spaced, *_, saved_spaced = page.evaluate(SHOW_AND_SAVE, {"phrases": phrases[:2], "text": "你好 世界"})
    assert (shown.split(), times) == (["00:00你好世界", "cloud", "nine", "上𠀀"], ["00:00", "01:00:00", "01:02:05"])
    assert saved == srt(cues([TimedWord(phrase, second, second + 0.5) for second, phrase in enumerate(phrases)]))
    assert spaced == "00:00你好 世界" and "你好 世界" in saved_spaced


def test_what_was_said_since_the_last_text_is_sent_again(speaker: Any, models: Models) -> None:
    with serving(models) as served, opened(speaker, served) as page:
        assert page.evaluate(LOSE_A_CONNECTION) == {
            "first": [[1] * 10, [2] * 10, [3] * 10],
            "second": [[3] * 10 + [4] * 10, [5] * 10],
            "finals": [["a", 0, 0.2, 0.05], ["b", 0.2, 0.4, 0.3]],
        }


def test_what_is_not_answered_at_the_end_is_said(speaker: Any, models: Models) -> None:
    with serving(models) as served, opened(speaker, served) as page:
        (failure,) = page.evaluate(FINISH_UNANSWERED)
        assert "what was said last may be missing" in failure


def test_a_lost_connection_is_made_again(speaker: Any, models: Models) -> None:
    with ExitStack() as first:
        served = first.enter_context(serving(models))
        with opened(speaker, served) as page:
            page.click("#speak")
            page.wait_for_selector("#state:text-is('Listening')")
            first.close()
            page.wait_for_selector("#state:has-text('Trying again')")
            with serving(models, port=served.port):
                page.wait_for_selector("#state:text-is('Listening')")
                page.click("#speak")
                page.wait_for_selector("#state:text-is('Ready')")
                assert not page.is_visible("#problem")


def test_the_microphones_rate_becomes_the_models(speaker: Any, models: Models) -> None:
    measure = """async ([from, to, tone]) => {
      const { Resampler, toSixteenBits } = await import("/page/worklet.js");
      const sound = Float32Array.from({ length: from }, (_, n) => Math.sin(2 * Math.PI * tone * n / from));
      const whole = new Resampler(from, to).push(sound), pieces = new Resampler(from, to), cut = [];
      for (let at = 0; at < from; at += 128) cut.push(...pieces.push(sound.slice(at, at + 128)));
      const wanted = n => Math.sin(2 * Math.PI * tone * n / to), inner = whole.slice(500, to - 500);
      return {
        length: whole.length, same: whole.length === cut.length && whole.every((value, n) => value === cut[n]),
        loudest: Math.max(...inner), error: Math.max(...inner.map((value, n) => Math.abs(value - wanted(n + 500)))),
        clipped: [...toSixteenBits([-2, -1, 0, 1, 2])],
      };
    }"""
    with serving(models) as served, opened(speaker, served) as page:
        for rate, to in ((48000, 16000), (44100, 16000), (16000, 16000), (16000, 8000), (8000, 16000)):
            heard = page.evaluate(measure, [rate, to, 1000])
            assert heard["same"]
            assert 0 <= to - heard["length"] < 200
            assert heard["error"] < 1e-3, (rate, to)
            assert heard["clipped"] == [-32767, -32767, 0, 32767, 32767]
        for rate in (48000, 44100):
            assert page.evaluate(measure, [rate, 16000, 9000])["loudest"] < 1e-3  # above what 16,000 Hz can hold

"""The page of a report in a real browser, on a phone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from corpora import RATE, write_wav
from tested_utterances import results

from deepspeech.util.figures.error_report.content import make_report
from deepspeech.util.figures.error_report.html.page import page

PHONE = {"width": 360, "height": 780}
LOADED = """async () => {
    const audio = document.querySelector("#u1 audio");
    audio.load();
    await new Promise((resolve) => { audio.onloadedmetadata = audio.onerror = resolve; });
    return audio.duration;
}"""


def test_a_phone_shows_all_of_it_plays_the_recordings_and_writes_arabic_from_right_to_left(
    tmp_path: Path, browser: Any
) -> None:
    recording = write_wav(tmp_path / "wav #1" / "a ä.wav", np.zeros(RATE, np.float32))
    long_column = {"speaker": "s1", "address": "a" * 200}
    arabic = replace(
        results(1)[0], recording=str(recording), reference="سمكة كلب قطة", hypothesis="قطة", columns=long_column
    )
    english = replace(arabic, reference="one two three", hypothesis="one too three")
    report = tmp_path / "report" / "report.html"
    report.parent.mkdir()
    report.write_text(page(make_report("a model", [arabic, english, *results(60)]), report.parent), encoding="utf-8")
    shown = browser.new_page(viewport=PHONE)
    asked: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert shown.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert shown.evaluate(LOADED) == 1.0
    for utterance, falling in ((1, True), (2, False)):
        steps = shown.locator(f"#u{utterance} .step")
        places = [steps.nth(place).bounding_box()["x"] for place in range(3)]
        assert places == sorted(places, reverse=falling)

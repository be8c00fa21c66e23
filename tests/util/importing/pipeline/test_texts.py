"""What is left out of transcripts."""

from __future__ import annotations

import pytest

from deepspeech.util.importing.pipeline.texts import plain_text


@pytest.mark.parametrize(
    ("written", "transcript"),
    [
        ("  two\t words ", "two words"),
        ("今天 河 水\u3000很高", "今天河水很高"),
        ("川 が ビール OK です", "川がビール OK です"),
        ("แม่น้ำ วันนี้", "แม่น้ำ วันนี้"),
        ("작은 문", "작은 문"),
        ("卡尔普#2陪外孙#1玩滑梯#4。", "卡尔普陪外孙玩滑梯。"),
        ("bus #4", "bus #4"),
        ("第#2车", "第#2车"),
        ("你好<sil>世界<%><#>", "你好世界"),
        ("a < b", "a < b"),
    ],
)
def test_spaces_between_characters_and_marks_of_pauses_are_left_out(written: str, transcript: str) -> None:
    assert plain_text(written) == transcript

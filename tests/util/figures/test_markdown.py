from __future__ import annotations

import pytest

from deepspeech.util.figures.markdown import in_code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*a* <b> \\", "`*a* <b> \\`"),
        ("o`zbek o`g`il", "``o`zbek o`g`il``"),
        ("a``b`c", "```a``b`c```"),
        ("`", "`` ` ``"),
    ],
)
def test_a_text_is_between_more_backticks_than_it_has(text: str, shown: str) -> None:
    assert in_code(text) == shown

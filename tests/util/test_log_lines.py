"""Logs as JSON lines."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from deepspeech.util.monitoring.log_lines import JSONLines, last_words


@pytest.fixture
def handler() -> Iterator[logging.Handler]:
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("deepspeech")
    before, logger.handlers = logger.handlers, [handler]
    yield handler
    logger.handlers = before


def test_each_record_is_an_object_on_a_line_of_its_own(
    handler: logging.Handler, capsys: pytest.CaptureFixture[str]
) -> None:
    handler.setStream(sys.stderr)  # type: ignore[attr-defined]
    handler.setFormatter(JSONLines("worker 1"))
    logger = logging.getLogger("deepspeech.cluster.chief")
    logger.error("two\nlines of “%s”", "text")
    try:
        raise ValueError("why")
    except ValueError:
        logger.exception("failed")
    one, other = map(json.loads, capsys.readouterr().err.splitlines())
    assert one == {
        **{"level": "error", "logger": "deepspeech.cluster.chief", "node": "worker 1", "time": one["time"]},
        "message": "two\nlines of “text”",
    }
    assert one["time"].endswith("+00:00")
    assert other["exception"].endswith("ValueError: why")


def test_last_words_have_the_form_of_the_log(handler: logging.Handler) -> None:
    assert last_words("why") == "deepspeech: why"
    assert last_words("why", "deepspeech-server") == "deepspeech-server: why"
    handler.setFormatter(JSONLines("ps 0"))
    told = json.loads(last_words("why"))
    assert (told["message"], told["level"], told["node"], told["logger"]) == ("why", "error", "ps 0", "deepspeech")

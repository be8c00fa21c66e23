"""Standard error without the lines that TensorFlow's libraries print there whatever they are told."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_OF_TENSORFLOW = re.compile(
    rb"WARNING: All log messages before absl|[IWEF]\d{4} |\d{4}-\d\d-\d\d [\d:.]+: [IWEF] |To enable the following"
    rb"|INFO: Created TensorFlow Lite"
)


@contextmanager
def without_tensorflows_lines() -> Iterator[None]:
    """Hold back what is printed on standard error; at the end print it without TensorFlow's lines.

    After an error all of it is printed.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        failed = False
        try:
            yield
        except Exception:
            failed = True
            raise
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            printed.seek(0)
            for line in printed:
                if failed or not _OF_TENSORFLOW.match(line):
                    os.write(2, line)

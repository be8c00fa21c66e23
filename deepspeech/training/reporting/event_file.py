"""A file of events for TensorBoard; if it cannot be written, training continues without it."""

import logging
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from ...util.files.writable import reason_of

v1 = tf.compat.v1
logger = logging.getLogger(__name__)


SEND_SECONDS = 60
"""Seconds between two uploads of an event file to its address, if it has one."""


class EventFile:
    """An event file with the methods of TensorFlow's FileWriter, whose writing thread would die with a traceback.

    If the file cannot be written, log this once and drop all events.
    """

    def __init__(self, folder: Path, graph: Any, send: Callable[[Path], None]) -> None:
        """Begin a file with the graph in the folder, which is made if missing; `send` is called with the folder."""
        self._folder = folder
        self._send = send
        self._next_send = time.monotonic() + SEND_SECONDS
        self._writer: Any = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
            self._writer = tf.io.TFRecordWriter(os.fsencode(folder / name))  # as it takes a text for UTF-8
        except (OSError, tf.errors.OpError) as error:
            self._give_up(error)
        self._add(v1.Event(wall_time=time.time(), file_version="brain.Event:2"))
        definition = graph.as_graph_def(add_shapes=True)
        self._add(v1.Event(wall_time=time.time(), graph_def=definition.SerializeToString()))

    def add_summary(self, summary: Any, step: int) -> None:
        """Write a summary."""
        self._add(v1.Event(wall_time=time.time(), step=step, summary=summary))

    def add_run_metadata(self, metadata: Any, tag: str, step: int) -> None:
        """Write a trace of a step under a name."""
        event = v1.Event(wall_time=time.time(), step=step)
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = metadata.SerializeToString()
        self._add(event)

    def flush(self) -> None:
        """Flush all events to the file."""
        self._try(lambda writer: writer.flush())
        if time.monotonic() >= self._next_send:
            self._send(self._folder)
            self._next_send = time.monotonic() + SEND_SECONDS

    def close(self) -> None:
        """Close the file and send it: an interrupted run sends nothing later."""
        self._try(lambda writer: writer.close())
        self._send(self._folder)

    def _add(self, event: Any) -> None:
        self._try(lambda writer: writer.write(event.SerializeToString()))

    def _try(self, act: Callable[[Any], None]) -> None:
        if self._writer is None:
            return
        try:
            act(self._writer)
        except tf.errors.OpError as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._writer = None
        logger.warning(
            "--summary_dir=%s: cannot be written (%s); training continues without summaries",
            self._folder,
            reason_of(error),
        )

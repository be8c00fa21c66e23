"""Clients that stream to a server in real time, in a separate process.

    python -m benchmarks.processes.live_clients PORT STREAMS SECONDS RECORDING.wav

Each client begins at a different position of the recording, sends messages of 20 ms for SECONDS, and then finishes.
Prints JSON: for each partial, the seconds since the last audio that it covers was sent; for each final, the seconds
since the end of the audio.
"""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from dataclasses import dataclass, field

import numpy as np
import soundfile

RATE = 16_000
MESSAGE_SECONDS = 0.02
PATIENCE = 60.0

HANDSHAKE = (
    "GET /v1/stream?rate=16000 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@dataclass
class Heard:
    """The lateness of the texts that one client received."""

    partials: list[float] = field(default_factory=list)
    finals: list[float] = field(default_factory=list)
    text: str = ""


def framed(payload: bytes, opcode: int) -> bytes:
    """Return a client's WebSocket frame; its mask is zero, so that masking costs nothing."""
    length = len(payload)
    head = struct.pack(">BB", 0x80 | opcode, 0x80 | length) if length < 126 else b""
    return (head or struct.pack(">BBH", 0x80 | opcode, 0xFE, length)) + bytes(4) + payload


async def next_message(reader: asyncio.StreamReader) -> bytes:
    """Return the payload of the server's next message, without pings."""
    while True:
        kind, length = await reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await reader.readexactly(8))
        payload = await reader.readexactly(length)
        if kind & 0xF == 1:
            return payload


async def handshake(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a live stream; exit the program if the server refuses it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HANDSHAKE.encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 101 " not in answer.partition(b"\r\n")[0]:
        raise SystemExit(f"refused: {answer.decode()}")
    return reader, writer


async def listen_for_final(reader: asyncio.StreamReader) -> str | None:
    """Return the texts up to the final that ends the audio; None if the connection ends without it."""
    texts = []
    while True:
        try:
            message = json.loads(await next_message(reader))
        except (EOFError, OSError):
            return None
        if message["type"] == "final":
            texts.append(message["text"])
            if message["reason"] == "finish":
                return " ".join(texts)


async def speak(port: int, audio: bytes, delay: float) -> Heard:
    """Run one client, whose audio begins after a delay."""
    await asyncio.sleep(delay)
    reader, writer = await handshake(port)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    heard = Heard()
    listening = asyncio.ensure_future(listen(reader, heard, begin, len(audio) / (2 * RATE)))
    step = int(2 * RATE * MESSAGE_SECONDS)
    for number, start in enumerate(range(0, len(audio), step)):
        await asyncio.sleep(begin + (number + 1) * MESSAGE_SECONDS - loop.time())
        writer.write(framed(audio[start : start + step], 2))
    writer.write(framed(b'{"type": "finish"}', 1))
    await asyncio.wait_for(listening, PATIENCE)
    writer.close()
    return heard


async def listen(reader: asyncio.StreamReader, heard: Heard, begin: float, seconds: float) -> None:
    """Receive messages up to the final at the end of the audio; the audio's second s was due at `begin` + s."""
    loop = asyncio.get_running_loop()
    while True:
        message = json.loads(await next_message(reader))
        now = loop.time() - begin
        if message["type"] == "partial":
            heard.partials.append(now - message["end"])
        elif message["type"] == "final":
            heard.text += " " + message["text"]
            if message["reason"] == "finish":
                heard.finals.append(now - seconds)
                return
        elif message["type"] == "error":
            raise SystemExit(message["message"])


async def measure(port: int, streams: int, seconds: float, recording: np.ndarray) -> dict[str, object]:
    """Run all clients at once; they begin at different times."""
    length = int(seconds * RATE)
    places = np.random.default_rng(1).integers(0, len(recording) - length + 1, streams)
    spoken = [recording[place : place + length].astype("<i2").tobytes() for place in places]
    clients = [speak(port, audio, number / streams) for number, audio in enumerate(spoken)]
    heard = await asyncio.gather(*clients)
    return {
        "partials": [each for client in heard for each in client.partials],
        "finals": [each for client in heard for each in client.finals],
        "characters": sum(len(client.text) for client in heard),
    }


if __name__ == "__main__":
    _, port, streams, seconds, path = sys.argv
    recording, rate = soundfile.read(path, dtype="int16")
    assert rate == RATE
    print(json.dumps(asyncio.run(measure(int(port), int(streams), float(seconds), recording))))

"""The blocks of content that fixtures are made of."""

from __future__ import annotations

import base64
import struct
import zlib

Json = dict[str, object]

FRESH: Json = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
"""What 2026-07-28 wants in lists and resources; the SDK leaves it out for older clients."""


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def image() -> Json:
    return {"type": "image", "data": IMAGE, "mimeType": "image/png"}


def audio() -> Json:
    return {"type": "audio", "data": AUDIO, "mimeType": "audio/wav"}


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> Json:
    """A resource inside a result."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


def form(**properties: Json) -> Json:
    """The schema of a form whose fields are all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def elicitation(message: str, schema: Json) -> Json:
    """A form for the client's person, as a request inside a result."""
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sampling(prompt: str, most: int) -> Json:
    """A question to the client's model, as a request inside a result."""
    message = {"role": "user", "content": text(prompt)}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}}


ROOTS: Json = {"method": "roots/list", "params": {}}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_pixel() -> bytes:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixel) + _chunk(b"IEND", b"")


def _silence() -> bytes:
    samples = bytes(16)
    layout = struct.pack("<HHIIHH", 1, 1, 8_000, 16_000, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(layout)) + layout + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


IMAGE = base64.b64encode(_red_pixel()).decode()
"""One red pixel, PNG, base64."""
AUDIO = base64.b64encode(_silence()).decode()
"""A millisecond of silence, WAV, base64."""

"""An embedder whose vectors are kept on disk by the hash of their text, so that a second run embeds nothing."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evoca.retrieval.calibration import Calibration
from evoca.retrieval.embedders import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CachedEmbedder:
    """`inner` with a cache in `folder`. A calibration moves no raw vector: the keys leave its version out."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._weights = inner.model_id.removesuffix(f"/{inner.calibration.version}")
        self._lock = threading.Lock()
        self._database = sqlite3.connect(folder / "vectors.sqlite", check_same_thread=False)
        self._database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def model_id(self) -> str:
        return self._inner.model_id

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def calibration(self) -> Calibration:
        return self._inner.calibration

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed("query", texts, self._inner.embed_queries)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed("passage", texts, self._inner.embed_passages)

    def key(self, side: str, text: str) -> bytes:
        return hashlib.blake2b(f"{self._weights}\0{side}\0{text}".encode(), digest_size=16).digest()

    def _embed(
        self, side: str, texts: Sequence[str], embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        keys = [self.key(side, text) for text in texts]
        with self._lock:
            known = {key: self._known(key) for key in keys}
        missing = list(dict.fromkeys(text for key, text in zip(keys, texts, strict=True) if known[key] is None))
        if missing:
            made = embed(missing)
            rows = [(self.key(side, text), row.tobytes()) for text, row in zip(missing, made, strict=True)]
            with self._lock, self._database:
                self._database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            known.update(rows)
        return np.frombuffer(b"".join(known[key] or b"" for key in keys), np.float32).reshape(len(texts), self.dim)

    def _known(self, key: bytes) -> bytes | None:
        row: tuple[bytes] | None = self._database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

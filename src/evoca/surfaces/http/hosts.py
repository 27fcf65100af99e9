"""Which `Host` and which `Origin` a request may name.

A web page can make a browser send requests to a server on the same machine or network, under a name of the page's own
that resolves to it. Such a request names that name as its host, and its page as its origin; both are checked.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

ANY = "*"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Authority:
    """A host, in lower case and without brackets, and its port if one is written."""

    name: str
    port: int | None

    @property
    def loopback(self) -> bool:
        return is_loopback(self.name)


def is_loopback(name: str) -> bool:
    """Whether this name or address means this machine alone."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def authority(text: str) -> Authority | None:
    """`name`, `name:port`, `[address]:port`; None when it is none of these."""
    text = text.strip().lower()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None
        port = rest[1:]
    else:
        name, _, port = text.partition(":")
        rest = text[len(name) :]
    name = name.removesuffix(".")
    if not name or any(letter in name for letter in " /@?#\\") or (rest and not _is_port(port)):
        return None
    return Authority(name, int(port) if rest else None)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) <= 65535


class Hosts:
    """The hosts that requests may name: this machine's loopback names, where a request came in, and `patterns`.

    A pattern is `name` or `name:*` (any port), `name:port`, `*.name` (what is below it), or `*`.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(pattern.strip().lower() for pattern in patterns)

    def allow(self, host: str, here: str | None) -> bool:
        """Whether a request may name `host`. `here`: the address of this machine that it came in at."""
        named = authority(host)
        if named is None:
            return False
        return (
            named.loopback or named.name == _plain(here) or any(_host_matches(each, named) for each in self._patterns)
        )


def _plain(address: str | None) -> str | None:
    """An IPv4 address as it is written, even where it comes in at a socket for both kinds."""
    return None if address is None else address.lower().removeprefix("::ffff:")


def _host_matches(pattern: str, named: Authority) -> bool:
    if pattern == ANY:
        return True
    any_port = pattern.endswith(":*")
    wanted = authority(pattern[:-2] if any_port else pattern)
    if wanted is None:
        return False
    if wanted.port is not None and wanted.port != named.port:
        return False
    below = wanted.name.removeprefix("*")
    return named.name.endswith(below) if below != wanted.name else named.name == wanted.name


class Origins:
    """The origins that requests may name: none at all, the server's own, loopback, and `patterns`.

    A pattern is `scheme://name`, `scheme://name:port`, `scheme://name:*`, or `*`.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(pattern.strip().lower().removesuffix("/") for pattern in patterns)

    def allow(self, origin: str, host: str) -> bool:
        """Whether a request to `host` may come from a page of `origin`."""
        origin = origin.strip().lower()
        scheme, separator, rest = origin.partition("://")
        named = authority(rest) if separator else None
        if named is None or scheme not in _DEFAULT_PORTS:
            return self.listed(origin)
        own = authority(host)
        return named.loopback or _same(scheme, named, own) or self.listed(origin)

    def listed(self, origin: str) -> bool:
        """Whether a pattern names this origin, so that its pages may also read the answers."""
        return any(_origin_matches(each, origin.strip().lower()) for each in self._patterns)


def _same(scheme: str, page: Authority, own: Authority | None) -> bool:
    default = _DEFAULT_PORTS[scheme]
    return own is not None and page.name == own.name and (page.port or default) == (own.port or default)


def _origin_matches(pattern: str, origin: str) -> bool:
    if pattern in (ANY, origin):
        return True
    scheme, separator, rest = pattern.partition("://")
    given_scheme, _, given = origin.partition("://")
    named = authority(given)
    if not separator or scheme != given_scheme or named is None:
        return False
    # A browser leaves the scheme's own port out; a pattern without a port means that one, not any.
    default = _DEFAULT_PORTS.get(scheme)
    wanted = authority(rest)
    exact = rest if wanted is None or wanted.port is not None else f"{rest}:{default}"
    return _host_matches(exact, Authority(named.name, named.port or default))

"""The public conformance suites of the protocol, on `evoca serve` and, for what it does not offer, on fixtures.

The fixtures are served by Evoca's own HTTP stack. What is expected to fail stands in the files beside, with reasons;
what begins to pass must leave them. A scenario of the product that also passes on a server that refuses everything has
passed on an error reply: it counts only where the transport is all that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conformance.servers import product, served, stand_in
from tests.conformance.suites import (
    KINDS,
    SUITES,
    Kind,
    Results,
    Suite,
    empty_passes,
    expectations,
    failures,
    missing,
    passes,
    run,
    run_again,
)

TRANSPORT = frozenset({
    "dns-rebinding-protection",
    "ping",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
})  # fmt: skip
"""Scenarios about connections, not about what a server offers: a reply of any kind is what they ask for."""

AT_ONCE = 3
PATIENCE = 5
"""How many scenarios are tried once more, alone, before they have failed."""
by_suite = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    """Skipped where npm was missing, unless skips are failures (`EVOCA_CI`)."""
    if absent := missing():
        pytest.skip(absent)


class Runs:
    """The results of every server with every suite. A run mostly waits, so there are a few at a time."""

    def __init__(self, addresses: Mapping[str, str], folder: Path, pool: ThreadPoolExecutor) -> None:
        self.addresses = addresses
        self._results = {
            (what, suite): pool.submit(run, suite, address, folder / f"{what} {suite.name}")
            for suite in SUITES
            for what, address in addresses.items()
        }

    def of(self, what: str, suite: Suite) -> Results:
        return self._results[what, suite].result()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("conformance")
    places = {what: tmp_path_factory.mktemp(what) for what in ("product", "fixtures", "refusals")}
    with ExitStack() as servers:
        addresses = {
            what: servers.enter_context(served(product(own) if what == "product" else stand_in(what, own), own))
            for what, own in places.items()
        }
        pool = servers.enter_context(ThreadPoolExecutor(AT_ONCE))
        yield Runs(addresses, folder, pool)


@by_suite
@pytest.mark.parametrize("kind", KINDS)
def test_all_scenarios_pass_but_those_that_are_expected_to_fail(
    runs: Runs, kind: Kind, suite: Suite, tmp_path: Path
) -> None:
    expected = expectations(kind, suite.revision).failing
    results = runs.of(kind, suite)
    unexpected = _unexpected(results, expected)
    suspects = {name.partition(":")[0] for name in unexpected}
    if len(suspects) <= PATIENCE:
        # Some scenarios give a server less than a second, which a busy machine may not have for it.
        for scenario in suspects:
            results = {**results, **run_again(suite, runs.addresses[kind], tmp_path / scenario, scenario)}
        unexpected = _unexpected(results, expected)
    assert not unexpected, "\n".join(["These fail:", *(f"{name}: {said}" for name, said in unexpected.items())])
    failing = failures(results)
    failed = {*failing, *(name.partition(":")[0] for name in failing)}
    passing = [name for name in expected if name.partition(":")[0] in results and name not in failed]
    assert not passing, f"no failures any more, take them out of {kind}-{suite.revision}.yml: {', '.join(passing)}"


def _unexpected(results: Results, expected: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: said
        for name, said in failures(results).items()
        if name not in expected and name.partition(":")[0] not in expected
    }


@by_suite
@pytest.mark.parametrize("kind", KINDS)
def test_no_pass_counts_that_shows_nothing(runs: Runs, kind: Kind, suite: Suite) -> None:
    results = runs.of(kind, suite)
    hollow = empty_passes(results)
    if kind == "product":
        hollow |= passes(results) & passes(runs.of("refusals", suite)) - TRANSPORT
    assert hollow == set(expectations(kind, suite.revision).not_counted) - suite.without


def test_the_files_name_scenarios_that_there_are(runs: Runs) -> None:
    for suite in SUITES:
        for kind in KINDS:
            expected = expectations(kind, suite.revision)
            named = {name.partition(":")[0] for name in (*expected.failing, *expected.not_counted)}
            assert named - suite.without <= set(runs.of(kind, suite))

"""What holds for every test: nothing of the person's own settings or stores, and no silent skips in CI."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.support.engines import Servers

# A busy machine's timings are no faults; a failing example is printed with the means to repeat it.
settings.register_profile("test", deadline=None, print_blob=True)
settings.register_profile("prove", deadline=None, print_blob=True, max_examples=1_000)
settings.load_profile("prove" if os.environ.get("EVOCA_PROVE") else "test")

OURS = ("EVOCA_", "MEMORY_FILE_PATH", "XDG_")
SWITCHES = ("EVOCA_CI", "EVOCA_PROVE")


@pytest.fixture(scope="session", autouse=True)
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No settings from outside, and a home of its own in which no test may leave a store."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as surroundings:
        for name in list(os.environ):
            if name.startswith(OURS) and name not in SWITCHES:
                surroundings.delenv(name)
        surroundings.setenv("HOME", str(home))
        yield
    left = sorted(str(path) for path in home.rglob("*.db"))
    assert not left, f"a test wrote to the per-user store: {left}"


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The database servers of the tests' own."""
    started = Servers()
    yield started
    started.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI (`EVOCA_CI=1`) what is skipped was not tested: it fails, with its reason."""
    if report.skipped and os.environ.get("EVOCA_CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"in CI a skip is a failure. {reason}"

"""The public conformance suites: which there are, how one is run, and what is expected of it.

What is expected stands in `KIND-REVISION.yml`, in the form that the suites' own option `--expected-failures` reads, and
with a reason behind every entry. `server` lists scenarios (or one check of a scenario, `scenario:check`) that fail;
`not-counted` those that do not fail and yet say nothing of the server.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

HERE = Path(__file__).resolve().parent
MODULES = HERE.parents[1] / "node_modules"
NODE_NEEDED = 22
LIMIT = 100.0
"""Seconds for one suite; three take five together on an idle machine."""

Kind = Literal["product", "fixtures"]
KINDS: tuple[Kind, ...] = ("product", "fixtures")

_ENTRY = re.compile(r"  - (?P<name>[\w.:$-]+) +# (?P<reason>\S.*)")
_RESULTS = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_ANY_TRAFFIC = frozenset({"wire-schema-valid", "wire-schema-harness-error"})
"""Checks that the suite adds to every scenario; error replies satisfy them."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One package at one revision of the protocol, and how many scenarios it has for it."""

    version: str
    revision: str
    scenarios: int
    package: str
    arguments: tuple[str, ...]
    without: frozenset[str] = frozenset()
    """Scenarios of this revision that only another suite has."""

    @property
    def name(self) -> str:
        return f"{self.version} for {self.revision}"


STABLE = "@modelcontextprotocol/conformance"
NEXT = "conformance-next"
_NEWER = frozenset({"server-session-lifecycle", "json-schema-2020-12", "server-sse-polling"})
SUITES = (
    Suite("0.1.16", "2025-11-25", 30, STABLE, ("--suite", "active"), _NEWER),
    Suite("0.2.0-alpha.12", "2025-11-25", 33, NEXT, ("--requirements", "2025-11-25")),
    Suite("0.2.0-alpha.12", "2026-07-28", 50, NEXT, ("--requirements", "2026-07-28")),
)


@dataclass(frozen=True, slots=True)
class Check:
    """What the suite says of one requirement."""

    id: str
    status: str
    message: str

    @property
    def fails(self) -> bool:
        """The suites take a warning for a failure where they compare with what is expected; so do we."""
        return self.status in ("FAILURE", "WARNING")


Results = Mapping[str, tuple[Check, ...]]
"""Scenario → its checks."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """Scenario, or `scenario:check`, to the reason."""

    failing: Mapping[str, str]
    not_counted: Mapping[str, str]


def missing() -> str:
    """Why the suites cannot be run here; empty when they can."""
    if _node() is None:
        return f"Node {NODE_NEEDED} or later is not installed (npm ci)"
    absent = [suite.package for suite in SUITES if not _entry(suite).exists()]
    return f"{absent[0]} is not installed (npm ci)" if absent else ""


@cache
def _node() -> str | None:
    """The Node that npm installed beside the suites, or the machine's own if it is new enough."""
    for found in (shutil.which("node", path=MODULES / ".bin"), shutil.which("node")):
        if found is not None:
            version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
            if int(version.strip().removeprefix("v").partition(".")[0] or 0) >= NODE_NEEDED:
                return found
    return None


def run(suite: Suite, url: str, folder: Path) -> Results:
    """Run all scenarios against the MCP server at `url`. The suite's own results are left in `folder`."""
    results = _run(suite, url, folder, suite.arguments)
    assert len(results) == suite.scenarios, f"{suite.name} ran {len(results)} scenarios: {', '.join(results)}"
    return results


def run_again(suite: Suite, url: str, folder: Path, scenario: str) -> Results:
    """Run one scenario."""
    at = ("--spec-version", suite.revision) if suite.package == NEXT else ()
    return _run(suite, url, folder, ("--scenario", scenario, *at))


def _run(suite: Suite, url: str, folder: Path, arguments: Sequence[str]) -> Results:
    command = [_node() or "node", str(_entry(suite)), "server", "--url", url, *arguments, "--output-dir", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    said = ended.stdout + ended.stderr
    places = {match["scenario"]: path for path in folder.glob("*") if (match := _RESULTS.fullmatch(path.name))}
    assert places, f"{suite.name} left no results\n{said[-4000:]}"
    return {scenario: _checks(path / "checks.json", scenario, said) for scenario, path in sorted(places.items())}


def _entry(suite: Suite) -> Path:
    return MODULES / suite.package / "dist/index.js"


def _checks(path: Path, scenario: str, said: str) -> tuple[Check, ...]:
    if not path.exists():
        # The scenario has failed in the suite's own code.
        _, _, why = said.partition(f"Failed to run scenario {scenario}:")
        return (Check(scenario, "FAILURE", why.strip()[:500] or "the suite says nothing of it"),)
    read = cast("list[Mapping[str, str]]", json.loads(path.read_text(encoding="utf-8")))
    return tuple(Check(each["id"], each["status"], each.get("errorMessage", "")) for each in read)


def failures(results: Results) -> Mapping[str, str]:
    """`scenario:check` → what the suite says, for all that failed."""
    return {
        f"{scenario}:{check.id}": f"{check.status}: {check.message}"
        for scenario, checks in results.items()
        for check in checks
        if check.fails
    }


def passes(results: Results) -> frozenset[str]:
    """The scenarios of which nothing failed."""
    return frozenset(scenario for scenario, checks in results.items() if not any(check.fails for check in checks))


def empty_passes(results: Results) -> frozenset[str]:
    """The scenarios that pass though no check of their own did."""
    return frozenset(
        scenario
        for scenario in passes(results)
        if not any(check.status == "SUCCESS" and check.id not in _ANY_TRAFFIC for check in results[scenario])
    )


# -- what is expected -------------------------------------------------------------------------------


def expectations_path(kind: Kind, revision: str) -> Path:
    return HERE / f"{kind}-{revision}.yml"


def expectations(kind: Kind, revision: str) -> Expectations:
    """Read the file. Raises ValueError for a line that is no entry with its reason."""
    sections: dict[str, dict[str, str]] = {"server": {}, "not-counted": {}}
    current: dict[str, str] | None = None
    path = expectations_path(kind, revision)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        entry = _ENTRY.fullmatch(line)
        if not line or line.startswith("#"):
            continue
        if (head := line.removesuffix(":")) in sections:
            current = sections[head]
        elif entry is not None and current is not None:
            current[entry["name"]] = entry["reason"]
        else:
            raise ValueError(f"{path.name}:{number} is not `  - scenario  # reason`: {line}")
    return Expectations(sections["server"], sections["not-counted"])


# -- what the documents say -------------------------------------------------------------------------


def table() -> str:
    """How many scenarios of which suite pass, as Markdown."""
    rows = [
        "| suite | protocol | run on | scenarios | pass | in part | fail | not counted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for suite in SUITES:
        for kind in KINDS:
            expected = expectations(kind, suite.revision)
            failing = {name for name in expected.failing if ":" not in name} - suite.without
            in_part = {name.partition(":")[0] for name in expected.failing if ":" in name} - suite.without
            empty = set(expected.not_counted) - suite.without
            counts = (len(failing), len(in_part), len(empty))
            cells = (suite.scenarios, suite.scenarios - sum(counts), len(in_part), len(failing), len(empty))
            numbers = " | ".join(str(each) for each in cells)
            rows.append(f"| {suite.version} | {suite.revision} | {_SHOWN[kind]} | {numbers} |")
    return "\n".join([*rows, ""])


def reasons() -> str:
    """What fails or does not count, by its reason, as Markdown."""
    rows = ["| run on | protocol | what does not pass | because |", "|---|---|---|---|"]
    for kind in KINDS:
        for revision in dict.fromkeys(suite.revision for suite in SUITES):
            expected = expectations(kind, revision)
            alike: dict[str, list[str]] = {}
            for name, reason in [*expected.failing.items(), *expected.not_counted.items()]:
                alike.setdefault(reason, []).append(f"`{name}`")
            rows += [
                f"| {_SHOWN[kind]} | {revision} | {', '.join(names)} | {reason} |" for reason, names in alike.items()
            ]
    return "\n".join([*rows, ""])


_SHOWN: Mapping[Kind, str] = {"product": "`evoca serve`", "fixtures": "the suite's fixtures"}

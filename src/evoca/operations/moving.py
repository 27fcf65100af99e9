"""What exports and imports answer. They are no operations: files belong to the command line and the library."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evoca.domain.clock import to_iso
from evoca.services.exporting import Exported
from evoca.services.importing import Imported
from evoca.services.transfer import ImportReport


class ExportResult(TypedDict):
    """`counts`: records of each kind."""

    collection: str
    counts: dict[str, int]


class ExportSource(TypedDict):
    """Where and when an export was made."""

    collection: str
    at: str


class BadLine(TypedDict):
    """A line of a file that was not used, or not wholly."""

    line: int
    reason: str


class ImportResult(TypedDict):
    """`format`: `evoca` for an export, else `mcp-memory`. `added`, `known`: records of each kind that are new, and that
    were there. Only for a file of the official server: `skipped`, `errors`, `details`.
    """

    format: str
    exported: NotRequired[ExportSource]
    added: dict[str, int]
    known: dict[str, int]
    skipped: NotRequired[int]
    errors: NotRequired[int]
    details: NotRequired[list[BadLine]]
    dry_run: bool


def export_result(exported: Exported) -> ExportResult:
    return {"collection": exported.collection, "counts": dict(exported.counts)}


def import_result(report: Imported | ImportReport) -> ImportResult:
    if isinstance(report, Imported):
        envelope = report.envelope
        return {
            "format": "evoca",
            "exported": {"collection": envelope.collection, "at": to_iso(envelope.exported_at)},
            "added": dict(report.added),
            "known": dict(report.known),
            "dry_run": report.dry_run,
        }
    return {
        "format": "mcp-memory",
        "added": {"entity": report.entities, "relation": report.relations},
        "known": {"record": report.unchanged},
        "skipped": report.skipped,
        "errors": report.errors,
        "details": [{"line": remark.line, "reason": remark.reason} for remark in report.details],
        "dry_run": report.dry_run,
    }

"""The two servers side by side, kept on the same graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.differential.differences import COUNTED, DIFFERENCES, READ, Case
from tests.differential.graphs import Call, Graph, Outcome, graph_of, outcome_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import Server

OFFICIAL_MESSAGES = {
    "delete_entities": "Entities deleted successfully",
    "delete_observations": "Observations deleted successfully",
    "delete_relations": "Relations deleted successfully",
}


@dataclass(slots=True)
class Pair:
    """`file` is the official server's memory, which it reads anew with every call."""

    official: Server
    evoca: Server
    file: Path

    def clear(self) -> None:
        """Empty both."""
        self.file.unlink(missing_ok=True)
        names = graph_of(self.evoca.ok("read_graph")).names
        self.evoca.ok("delete_entities", {"entityNames": list(names)})

    def official_graph(self) -> Graph:
        return graph_of(self.official.ok("read_graph"))

    def evoca_graph(self) -> Graph:
        return graph_of(self.evoca.ok("read_graph"))

    def official_outcome(self, call: Call) -> Outcome:
        return outcome_of(call, self.official.call(call.tool, call.arguments))

    def evoca_outcome(self, call: Call) -> Outcome:
        return outcome_of(call, self.evoca.call(call.tool, call.arguments))

    def expected(self, call: Call) -> Case:
        """What Evoca must answer, and the graph that it must leave: the official server's, and the table."""
        before = self.official_graph()
        sent, meant = call, call
        for row in DIFFERENCES:
            if row.rewrite is not None:
                sent = row.rewrite(sent, before)
            if row.restates:
                meant = sent
        outcome = self.official_outcome(sent)
        case = Case(meant, before, outcome, self.official_graph())
        for row in DIFFERENCES:
            if row.expect is not None:
                case = row.expect(case)
        return case

    def step(self, call: Call) -> None:
        """Make one call on both; fail unless answer and graph are the expected ones."""
        case = self.expected(call)
        actual = self.evoca_outcome(call)
        if case.outcome.answer == (COUNTED,):
            _check_counted(call, actual)
        elif case.outcome == Outcome(is_error=True):
            assert actual.is_error, f"{call}: accepted"
        else:
            assert actual == case.outcome, f"{call}: answer"
        assert self.evoca_graph() == case.after, f"{call}: graph"
        if case.after != self.official_graph():
            self.file.write_text(case.after.as_jsonl(), encoding="utf-8")

    def differ(self, calls: tuple[Call, ...]) -> bool:
        """Whether the bare calls, with no rule applied, end in different answers or graphs."""
        for call in calls:
            if self.official_outcome(call) != self.evoca_outcome(call):
                return True
        return self.official_outcome(READ) != self.evoca_outcome(READ)


def _check_counted(call: Call, actual: Outcome) -> None:
    """The message is not the official sentence and names each thing that was not found."""
    assert not actual.is_error, call
    (message,) = actual.answer
    assert isinstance(message, str)
    assert message != OFFICIAL_MESSAGES[call.tool], f"{call}: nothing says that something was not found"

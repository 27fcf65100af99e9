"""Keep modules and functions small: fails on a module or function above its limit, prints the spread."""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE_LINES = 600
TEST_LINES = 800
FUNCTION_LINES = 80
FOLDERS = ("src", "tests", "scripts", "examples", "bench")


def functions(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Each function with its length in lines, decorators included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node, (node.end_lineno or node.lineno) - first + 1


def main() -> int:
    faults: list[str] = []
    modules: list[int] = []
    lengths: list[int] = []
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT)
        size = text.count("\n")
        modules.append(size)
        limit = TEST_LINES if name.parts[0] == "tests" else MODULE_LINES
        if size > limit:
            faults.append(f"{name}: {size} lines, the limit is {limit}")
        for node, length in functions(ast.parse(text)):
            lengths.append(length)
            if length > FUNCTION_LINES:
                faults.append(f"{name}:{node.lineno}: {node.name} has {length} lines, the limit is {FUNCTION_LINES}")
    if faults:
        sys.stderr.write("\n".join(faults) + "\n")
        return 1
    percentile = statistics.quantiles(lengths, n=20)[-1]
    sys.stdout.write(
        f"{len(modules)} modules of {statistics.median(modules):.0f} lines (longest {max(modules)}), "
        f"{len(lengths)} functions of {statistics.median(lengths):.0f} "
        f"(95 % within {percentile:.0f}, longest {max(lengths)})\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Print how well contradictions are found: precision and recall with 95 % intervals, by split, language and category.

    python -m bench.contradictions [--split dev|test] [--errors] [--xnli FOLDER] [--judge FOLDER]

`--errors` lists the pairs of the dev half that are judged wrongly. `--xnli FOLDER` reads `xnli-{es,en}.pairs.jsonl`
there: sentence pairs of another kind, of which most are left alone; their figures have no bar. `--judge FOLDER` asks
the NLI model in the folder where the rules say nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.contradictions import Pair, Score, foreign_pairs, groups_of, interval, own_pairs, score
from evoca.domain.contradictions import audit


def rules(older: str, newer: str) -> bool:
    return audit(older, newer) is not None


def judge_of(folder: str | None) -> Callable[[str, str], bool]:
    if folder is None:
        return rules
    from evoca.retrieval.judges import audited, load_judge

    model = load_judge(f"onnx:{folder}")
    return lambda older, newer: audited(older, newer, None, model) is not None


def row(name: str, found: Score) -> str:
    low, high = interval(found.hits, found.hits + found.false)
    least, most = interval(found.hits, found.wanted)
    return (
        f"{name:24} {found.pairs:6} {found.wanted:6} {found.hits:6} {found.false:6}"
        f"   {found.precision:5.3f} [{low:.3f}, {high:.3f}]   {found.recall:5.3f} [{least:.3f}, {most:.3f}]"
    )


def report(pairs: Sequence[Pair], judge: Callable[[str, str], bool], categories: bool) -> None:
    print(f"{'':24} {'pairs':>6} {'contr.':>6} {'hits':>6} {'false':>6}   precision               recall")
    print(row("all", score(pairs, judge)))
    for language, some in groups_of(pairs, lambda pair: pair.language).items():
        print(row(f"  {language}", score(some, judge)))
    if not categories:
        return
    for contradicts, title in ((True, "contradictions: recall"), (False, "compatible: false alarms")):
        print(f"  {title}")
        chosen = [pair for pair in pairs if pair.contradicts is contradicts]
        for category, some in groups_of(chosen, lambda pair: pair.category).items():
            found = score(some, judge)
            said = found.hits if contradicts else found.false
            print(f"    {category:20} {said:4} of {found.pairs:4}")


def speed(pairs: Sequence[Pair]) -> str:
    begin = time.process_time()
    for pair in pairs:
        audit(pair.older, pair.newer)
    once = time.process_time() - begin
    return f"audit: {1000 * once / len(pairs):.3f} ms CPU a pair, texts not met before"


def main() -> None:
    parser = argparse.ArgumentParser(description="How well contradictions are found.")
    parser.add_argument("--split", choices=("dev", "test"))
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--xnli", type=Path)
    parser.add_argument("--judge")
    asked = parser.parse_args()
    audit("El gato es negro", "El gato es blanco")  # loads the stemmers and tables
    pairs = own_pairs()
    print(speed(pairs))
    judge = judge_of(asked.judge)
    for split, some in groups_of(pairs, lambda pair: pair.split).items():
        if asked.split in (None, split):
            print(f"\n{split}: {len({pair.group for pair in some})} groups")
            report(some, judge, categories=True)
    if asked.errors:
        for pair in pairs:
            if pair.split == "dev" and judge(pair.older, pair.newer) is not pair.contradicts:
                print("missed" if pair.contradicts else "false ", pair.id, pair.older, "|", pair.newer)
    if asked.xnli is not None:
        print("\nXNLI: premises and hypotheses, no memory statements")
        report(foreign_pairs(asked.xnli), judge, categories=True)


if __name__ == "__main__":
    main()

"""When two memories are the same statement, so that the second need not be saved (contract, Hipocampo 1).

Likeness alone throws facts away: "Talla 38" and "Talla 48" are alike. So near-identical texts have the same content
words in the same order, and what little differs beside them must be able to be an accident: case, accents, white
space, punctuation, a plural `s`, function words that one text has and the other leaves out. Function words put in each
other's place (`de`, `a`), other persons and tenses (`vive`, `vivo`), antonyms with one stem (`hermano`, `hermana`) and
names that share a stem are other statements. When in doubt texts are different: a copy is flagged later, a loss is not.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evoca.domain.languages import (
    CONTENT_IN_ENGLISH,
    CONTENT_IN_SPANISH,
    ENGLISH_STOP_WORDS,
    SPANISH_STOP_WORDS,
    guess_language,
)
from evoca.domain.lexicon import are_antonyms
from evoca.domain.text import folded_words, nfc, stems
from evoca.domain.trigrams import similarity, trigrams

NEAR_IDENTICAL = 0.85
"""The trigram similarity, accents folded, from which on two texts may be near-identical."""
_SIZE = 16

_CONTENT = frozenset(
    """
    no not nor ni never nunca jamas sin neither none nadie nada nobody nothing ningun ninguna ninguno tampoco
    without can could may might must should would shall will won ought cannot puede pueden puedes puedo podemos
    podia podian pueda all any both each every everybody everyone everything few many more most much other others
    same some somebody someone something such only several another either just solo algun alguna algunas alguno
    algunos alguien algo ambos cada cual cualquier cualquiera cuanto cuantos mas menos mucho mucha muchos muchas
    muy otra otras otro otros poco pocos tal tales tan tanta tantas tanto tantos toda todas todo todos varios
    bastante very too so rather quite really also than almost casi about above after again against before below
    between down during further off once over out through under until up upon within since towards toward antes
    despues desde hasta contra bajo sobre entre durante segun tras ante mientras still yet already ya todavia aun
    always ever often then siempre entonces here there aqui alli now was were wasn weren had hadn did didn era
    eran eras eramos fue fuera fueran fueron fui fuimos estaba estaban estuve estuvieron estuvo estado habia
    habian hizo hicieron hubo tuvo tenia tenian sera seran if si because but although though however pero aunque
    sino porque or o u what when where which who whom whose why how cuando donde quien quienes cuyo cuya incluso
    tambien own seria sea sean get got gets been sido siendo aren couldn doesn hasn haven isn shan shouldn wouldn
    don
    """.split()
)
"""Function words that a statement turns on: negations, modals, quantifiers, tenses, opposed prepositions."""
_GLUE = (SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS) - _CONTENT - CONTENT_IN_ENGLISH - CONTENT_IN_SPANISH
_SPLIT_UP = {"del": ("de", "el"), "al": ("a", "el")}
_SAME_GLUE = {"an": "a", "un": "el", "una": "la", "unos": "los", "unas": "las"}

_CANNOT = re.compile(r"\b(?:can['\u2019]t|cannot)\b", re.IGNORECASE)
_WILL_NOT = re.compile(r"\bwon['\u2019]t\b", re.IGNORECASE)
_NOT = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
_WILL = re.compile(r"(?<=\w)['\u2019]ll\b", re.IGNORECASE)
_WOULD = re.compile(r"(?<=\w)['\u2019]d\b", re.IGNORECASE)
_PIECE = re.compile(
    r"""
    (?P<number>(?:(?<![\w)])[-+])?\d+(?:[.,:/*'\u2019-]\d+)*)
    | (?P<sign>[#%&@/\\\u00a7\u2030^?]+ | !(?=[=\w]))
    | (?P<words>[^\d#%&@/\\\u00a7\u2030^?!+-]+ | [!+-])
    """,
    re.VERBOSE,
)
_SHORT = 4


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or sign that counts. `glue`: the function words between it and the one before."""

    folded: str
    written: str
    stem: str
    glue: tuple[str, ...]
    named: bool


@dataclass(frozen=True, slots=True)
class _Sequence:
    words: tuple[_Word, ...]
    trailing: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(word.stem for word in self.words)


def signature(text: str) -> bytes:
    """A hash (16 bytes) of the text's content words in order: equal for all texts that may be near-identical.

    Stable: it depends on the text alone, so a store may keep it and look candidates up by it.
    """
    joined = "\x1f".join(_read(text).key) or _bare(text)
    return hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=_SIZE).digest()


def near_identical(one: str, other: str) -> float | None:
    """The texts' trigram similarity with accents folded, in [0.85, 1], if they are near-identical, else None.

    Symmetric. Texts that are equal but for case and white space give 1, those without a letter or digit too.
    """
    bare = _bare(one)
    if bare == _bare(other):
        return 1.0
    likeness = similarity(trigrams(_unaccented(one)), trigrams(_unaccented(other)))
    if likeness < NEAR_IDENTICAL:
        return None
    left, right = _read(one), _read(other)
    if not left.words or left.key != right.key or not _agree(left, right):
        return None
    return likeness


# -- reading -------------------------------------------------------------------------------------


def _bare(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _unaccented(text: str) -> str:
    return text if text.isascii() else " ".join(folded_words(text))


def _read(text: str) -> _Sequence:
    text = _spelled_out(nfc(text))
    tokens = list(_tokens(text))
    if all(folded in _GLUE for folded, _, _ in tokens):
        kept, glue = tokens, False
    else:
        kept, glue = [token for token in tokens if token[0] not in _GLUE], True
    language = guess_language([folded for folded, _, _ in tokens])
    found = stems([folded for folded, _, _ in kept], language)
    words: list[_Word] = []
    pending: list[str] = []
    at = 0
    for folded, written, named in tokens:
        if glue and folded in _GLUE:
            pending += _SPLIT_UP.get(folded, (_SAME_GLUE.get(folded, folded),))
            continue
        words.append(_Word(folded, written, found[at], tuple(pending), named))
        pending = []
        at += 1
    return _Sequence(tuple(words), tuple(pending))


def _spelled_out(text: str) -> str:
    """English contractions in full where they hold a negation or a modal."""
    text = text.replace("\u2212", "-")
    if "'" in text or "\u2019" in text or "annot" in text:
        for pattern, full in ((_CANNOT, "can not"), (_WILL_NOT, "will not"), (_NOT, " not"), (_WILL, " will")):
            text = pattern.sub(full, text)
        text = _WOULD.sub(" would", text)
    return text


def _tokens(text: str) -> Iterator[tuple[str, str, bool]]:
    """(folded, as written in lower case, whether it is written as a name) for words, numbers and signs in order."""
    first = True
    for match in _PIECE.finditer(text):
        piece = match[0]
        if match["number"]:
            yield piece, piece, False
        elif match["sign"]:
            yield piece[:1] if piece[0] == "?" else piece, piece, False
        else:
            for run in piece.split():
                signs = "".join(
                    char for char in run if unicodedata.category(char)[0] == "S" and char not in "`\u00b4\u00a8"
                )
                written = run.lower()
                for word in folded_words(run):
                    yield word, written, not first and run[:1].isupper()
                    first = False
                if signs:
                    yield signs, signs, False
        first = False


# -- comparing -----------------------------------------------------------------------------------


def _agree(one: _Sequence, other: _Sequence) -> bool:
    """Whether what differs between texts with the same content words can be an accident."""
    gaps = [(a.glue, b.glue) for a, b in zip(one.words, other.words, strict=True)]
    gaps.append((one.trailing, other.trailing))
    # What is left out must be left out of one text: a word that has moved (`a Ana`, `a Eva`) says something.
    if not (all(_within(a, b) for a, b in gaps) or all(_within(b, a) for a, b in gaps)):
        return False
    careless = _lost_accents(one, other) >= 2
    return all(_same_word(a, b, careless) for a, b in zip(one.words, other.words, strict=True))


def _within(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


def _lost_accents(one: _Sequence, other: _Sequence) -> int:
    """How many words have accents in one text only, if one text has none at all."""
    accented = [sum(not word.written.isascii() for word in each.words) for each in (one, other)]
    return max(accented) if min(accented) == 0 else 0


def _same_word(one: _Word, other: _Word, careless: bool) -> bool:
    if one.folded == other.folded:
        return one.written == other.written or careless or not _tells(one, other)
    if one.named or other.named or one.folded.isdigit():
        return False
    short, long = sorted((one.folded, other.folded), key=len)
    return len(short) >= _SHORT and long in (short + "s", short + "es") and not are_antonyms([short], [long])


def _tells(one: _Word, other: _Word) -> bool:
    """Whether the accent that one text lacks makes another word: `hablo` and `habló`, `si` and `sí`."""
    if one.folded == "si":
        return one.written.strip(".,;:") != other.written.strip(".,;:")
    final = {word.written.rstrip(".,;:!\u2026\"')\u00bb\u201d")[-1:] for word in (one, other)}
    return final == {"o", "\u00f3"}

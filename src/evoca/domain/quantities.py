"""Numbers and dates in a text, Spanish or English, in a form in which equal ones are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evoca.domain.languages import ENGLISH, SPANISH


def plain(text: str) -> str:
    """Casefolded, without accents; punctuation stays."""
    if text.isascii():
        return text.lower()
    return "".join(char for char in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(char))


@dataclass(frozen=True, slots=True)
class Quantities:
    """`numbers`: `5`, `3.5`, `2.1.0`. `units`: number → what it counts, where a known unit follows.

    `dates`: years, months, days of the week, times of day and whole dates. `words`: the words that say them.
    """

    numbers: frozenset[str]
    units: dict[str, str]
    dates: frozenset[str]
    words: frozenset[str]


def quantities(text: str, language: int) -> Quantities:
    """Read the quantities of a text that `plain` has made."""
    text, found = dates_in(text)
    dates = {date.name for date in found}
    words = {word for date in found for word in re.findall(r"\w+", date.written)}
    numbers: set[str] = set()
    units: dict[str, str] = {}
    for match in _NUMBER.finditer(text):
        number = number_of(match[1])
        numbers.add(number)
        words.update(re.findall(r"\w+", match[1]))
        if match[2]:
            units[number] = UNITS[match[2]]
    spelled = _spelled(re.findall(r"[^\W\d_]+", text), language)
    numbers.update(number for number, _ in spelled)
    words.update(word for _, used in spelled for word in used)
    return Quantities(frozenset(numbers), units, frozenset(dates), frozenset(words))


# -- dates ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dated:
    """A date at `begin`. `name` is equal for equal dates: `2024-5-3`, `-5-`, `weekday 1`, `14:30`, `today`."""

    begin: int
    written: str
    name: str


def dates_in(text: str) -> tuple[str, list[Dated]]:
    """The dates of a text that `plain` has made, and the text with a comma and spaces in their places."""
    found: list[Dated] = []
    for pattern, name in _DATES if _DATE_AHEAD.search(text) else ():

        def take(match: re.Match[str], name: Callable[[re.Match[str]], str] = name) -> str:
            found.append(Dated(match.start(), match[0], name(match)))
            return ",".ljust(len(match[0]))

        text = pattern.sub(take, text)
    return text, found


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "enero january jan ene",
            "febrero february feb",
            "marzo march mar",
            "abril april apr abr",
            "mayo may",
            "junio june jun",
            "julio july jul",
            "agosto august aug ago",
            "septiembre setiembre september sept sep",
            "octubre october oct",
            "noviembre november nov",
            "diciembre december dec dic",
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "lunes monday mondays",
            "martes tuesday tuesdays",
            "miercoles wednesday wednesdays",
            "jueves thursday thursdays",
            "viernes friday fridays",
            "sabado sabados saturday saturdays",
            "domingo domingos sunday sundays",
        ),
        1,
    )
    for name in names.split()
}
_RELATIVE = {
    "hoy": "today",
    "ayer": "yesterday",
    "anoche": "last night",
    "anteayer": "the day before yesterday",
    "manana": "tomorrow",
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_LONG_MONTH = "|".join(name for name in _MONTHS if len(name) > 4 and name != "march")
_YEAR = r"(?:1\d|20)\d\d"
_BARE_YEAR = r"(?:19|20)\d\d"
_BEFORE_YEAR = "en|in|desde|since|ano|year|hasta|until|by|before|after|from|antes de|despues de"
_NO_UNIT = r"(?!\s?(?:%|[kmgt]?b\b|ms\b|km\b|kg\b|eur|usd|\u20ac|\$|[.,]\d|[:/]))"


def _full(year: str | None, month: str | int, day: str | int | None) -> str:
    number = _MONTHS[month] if isinstance(month, str) and month in _MONTHS else int(month)
    return f"{year or ''}-{number}-{int(day) if day else ''}"


def _long_year(year: str) -> str:
    return f"20{year}" if len(year) == 2 else year


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1]) + (12 if match[3] == "pm" and int(match[1]) < 12 else 0)
    return f"{hour}:{int(match[2] or 0):02}"


def _sloping(match: re.Match[str]) -> str:
    """Day first, unless only the other way round is a date."""
    first, second = int(match[1]), int(match[2])
    day, month = (second, first) if second > 12 else (first, second)
    return f"{_long_year(match[3])}-{month}-{day}"


_DATES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(rf"\b({_YEAR})-(\d\d?)-(\d\d?)(?=\b|t\d)"), lambda m: _full(m[1], int(m[2]), m[3])),
    (re.compile(r"(?<![\d./])(\d\d?)[/.](\d\d?)[/.](\d{4}|\d\d)(?![\d./])"), _sloping),
    (
        re.compile(
            rf"\b(\d\d?)(?:st|nd|rd|th|\u00ba)?\s+(?:de\s+|of\s+)?({_MONTH})\b(?:\s?,?\s+(?:de\s+|del\s+)?({_YEAR}))?"
        ),
        lambda m: _full(m[3], m[2], m[1]),
    ),
    (
        re.compile(rf"\b({_MONTH})\s+(\d\d?)(?:st|nd|rd|th)?\b(?:\s?,?\s+({_YEAR}))?"),
        lambda m: _full(m[3], m[1], m[2]),
    ),
    (re.compile(rf"\b({_MONTH})\s+(?:de\s+|del\s+|of\s+)?({_YEAR})\b"), lambda m: _full(m[2], m[1], None)),
    (re.compile(rf"\b({_LONG_MONTH})\b"), lambda m: _full(None, m[1], None)),
    # Short or ambiguous ones only where a date is expected.
    (
        re.compile(r"\b(?:in|since|until|by|every|last|next|this|of)\s+(march|may|june|july)\b"),
        lambda m: _full(None, m[1], None),
    ),
    (re.compile(r"\b(mayo)\b"), lambda m: _full(None, m[1], None)),
    (re.compile(rf"\b({'|'.join(_WEEKDAYS)})\b"), lambda m: f"weekday {_WEEKDAYS[m[1]]}"),
    (re.compile(r"\b(\d\d?):(\d\d)(?::\d\d)?\s?(am|pm|h)?\b"), _clock),
    (re.compile(r"\b(\d\d?)()\s?(am|pm)\b"), _clock),
    (re.compile(r"\b(last|next)\s+(week|month|year|night)\b"), lambda m: f"{m[1]} {m[2]}"),
    (
        re.compile(r"\b(semana|mes|ano)\s+(pasad|proxim|que viene)[ao]?\b"),
        lambda m: (
            f"{'last' if m[2] == 'pasad' else 'next'} { {'semana': 'week', 'mes': 'month', 'ano': 'year'}[m[1]] }"
        ),
    ),
    # `la mañana`, `cada mañana` are the morning.
    (
        re.compile(r"\b(hoy|ayer|anoche|anteayer|(?<!la )(?<!esta )(?<!cada )(?<!una )manana)\b"),
        lambda m: _RELATIVE[m[1]],
    ),
    (re.compile(r"\b(today|yesterday|tomorrow)\b"), lambda m: m[1]),
    # A year stands after a preposition, or before no noun: `2000 people` is a number.
    (re.compile(rf"\b(?:{_BEFORE_YEAR})\s+({_YEAR})\b{_NO_UNIT}"), lambda m: f"{m[1]}--"),
    (re.compile(rf"(?<![\w.,:/$-])({_BARE_YEAR})\b{_NO_UNIT}(?!\s+[^\W\d_])"), lambda m: f"{m[1]}--"),
)

_DATE_AHEAD = re.compile(
    rf"\d|\b(?:last|next|semana|mes|ano|{_MONTH}|{'|'.join((*_WEEKDAYS, *_RELATIVE, *_RELATIVE.values()))})\b"
)
"""What every date has; most texts have none."""

# -- numbers -------------------------------------------------------------------------------------------

UNITS = {
    spelling: unit
    for unit, spellings in {
        "%": "% percent",
        "km": "km kilometro kilometros kilometer kilometers kilometre kilometres",
        "m": "m metro metros meter meters metre metres",
        "cm": "cm",
        "mm": "mm",
        "kg": "kg kilo kilos kilogramos kilograms",
        "g": "g gramos grams",
        "l": "l litro litros liter liters litre litres",
        "b": "bytes byte",
        "kb": "kb",
        "mb": "mb",
        "gb": "gb",
        "tb": "tb",
        "ms": "ms milisegundos milliseconds",
        "s": "s segundos seconds",
        "min": "min minuto minutos minute minutes",
        "h": "h hora horas hour hours",
        "day": "dia dias day days",
        "week": "semana semanas week weeks",
        "month": "mes meses month months",
        "year": "ano anos year years",
        "eur": "\u20ac eur euro euros",
        "usd": "$ usd dolar dolares dollar dollars",
        "gbp": "\u00a3 gbp libras pounds",
        "c": "\u00b0c",
        "f": "\u00b0f",
    }.items()
    for spelling in spellings.split()
}
_UNIT = "|".join(re.escape(each) for each in sorted(UNITS, key=len, reverse=True))
_NUMBER = re.compile(rf"((?:(?<![\w-])-)?\d+(?:[.,]\d+)*)(?:\s?({_UNIT})(?![^\W_]))?")
_GROUPED = re.compile(r"-?\d{1,3}(?:[.,]\d{3})+")


def number_of(text: str) -> str:
    """A number in the form in which equal ones are equal: `1.000` and `1000`, `3,50` and `3.5`."""
    if _GROUPED.fullmatch(text):
        return re.sub("[.,]", "", text)
    parts = re.split("[.,]", text)
    if len(parts) > 2:
        return ".".join(parts)
    whole = str(int(parts[0])) if parts[0] != "-0" else "-0"
    fraction = parts[1].rstrip("0") if len(parts) == 2 else ""
    return f"{whole}.{fraction}" if fraction else whole


def _numbered(*words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * at for at, words_ in enumerate(words) for word in words_.split("|")}


_SPANISH = (
    _numbered("cero", "", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce")
    | _numbered("trece", "catorce", "quince", "dieciseis", "diecisiete", "dieciocho", "diecinueve", "veinte", first=13)
    | _numbered("veintiuno|veintiun|veintiuna", "veintidos", "veintitres", "veinticuatro", "veinticinco", first=21)
    | _numbered("veintiseis", "veintisiete", "veintiocho", "veintinueve", first=26)
    | _numbered("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa", first=30, step=10)
    | _numbered("cien|ciento", "doscientos|doscientas", "trescientos|trescientas", first=100, step=100)
    | {"mil": 1_000, "millon": 1_000_000, "millones": 1_000_000}
    | {"quinientos": 500, "quinientas": 500}
    | _numbered("segundo|segunda", "tercero|tercera|tercer", "cuarto|cuarta", "quinto|quinta", first=2)
)
_ENGLISH = (
    _numbered("zero", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    | _numbered("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", first=13)
    | _numbered("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", first=30, step=10)
    | {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
    | _numbered("second", "third", "fourth", "fifth", first=2)
)
del _SPANISH[""], _ENGLISH[""]
_EITHER = _SPANISH | _ENGLISH
_KNOWN = {SPANISH: _SPANISH, ENGLISH: _ENGLISH}


def spelled_at(words: Sequence[str], at: int, language: int) -> tuple[int, int] | None:
    """The number that is written as words from `at` on, and how many words say it: `treinta y dos` is (32, 3)."""
    known = _KNOWN.get(language, _EITHER)
    total = known.get(words[at])
    if total is None:
        return None
    begin = at
    at += 1
    while at < len(words):
        step = 2 if words[at] in ("y", "and") and at + 1 < len(words) else 1
        value = known.get(words[at + step - 1])
        if value is None or (value < 100 and (total % 10 or total < 20)) or (step == 2 and value >= 100):
            break
        total = total * value if value >= 100 and total < value else total + value
        at += step
    return total, at - begin


def _spelled(words: list[str], language: int) -> list[tuple[str, list[str]]]:
    """Numbers that are written as words: (the number, its words)."""
    found: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(words):
        read = spelled_at(words, at, language)
        if read is None:
            at += 1
            continue
        found.append((str(read[0]), words[at : at + read[1]]))
        at += read[1]
    return found

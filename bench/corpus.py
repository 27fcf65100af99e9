"""Memories to measure with: the same ones in every run, half Spanish, half English, five texts an entity."""

from __future__ import annotations

import random
from dataclasses import dataclass

WHO = (
    "La vecina del tercero",
    "El hermano de Aitor",
    "Our landlord",
    "The night porter",
    "La maestra de inglés",
    "The chess club",
    "El panadero",
    "My cousin in Leeds",
    "The allotment group",
    "La coral del barrio",
    "El cartero",
    "The vet",
)
DID = (
    "arregló sin cobrar",
    "promised to look after",
    "perdió la cuenta de",
    "still remembers",
    "vendió por poco dinero",
    "painted over",
    "prefiere no hablar de",
    "borrowed",
    "guarda en el desván",
    "wrote a long letter about",
)
WHAT = (
    "la bicicleta verde",
    "the broken weather station",
    "el piano de pared",
    "a box of old negatives",
    "los manteles bordados",
    "the key to the boathouse",
    "la receta del bacalao",
    "the second-hand telescope",
    "el banco de la terraza",
    "the winter tyres",
)
WHEN = (
    "el domingo de las elecciones",
    "just before the harbour froze",
    "mientras duró la huelga de trenes",
    "on the first warm evening of the year",
    "cuando aún vivía el abuelo",
    "after everybody else had gone home",
    "la semana en que llovió sin parar",
    "as if it were the most normal thing",
)
KINDS = ("Persona", "Lugar", "Proyecto", "Thing", "Event", "Habit")
LINKS = ("knows", "vive_cerca_de", "borrowed_from", "trabaja_con", "depends_on")
PLACES = ("Ribera", "Quay", "Olmo", "Mill", "Faro", "Heath", "Plaza", "Grange")
RARE = "zampoñero"
"""A word in three entities of any corpus."""
COMMON = "aljibe"
"""A word in every tenth entity."""


@dataclass(frozen=True, slots=True)
class Memory:
    name: str
    kind: str
    observations: tuple[str, ...]


def name_of(number: int) -> str:
    return f"{PLACES[number % len(PLACES)]} {number:06d}"


def sentence(chance: random.Random) -> str:
    return f"{chance.choice(WHO)} {chance.choice(DID)} {chance.choice(WHAT)} {chance.choice(WHEN)}"


def memories(count: int) -> list[Memory]:
    chance = random.Random(4)
    rare = {count // 7, count // 3, count - 2}
    return [_memory(chance, number, number in rare) for number in range(count)]


def _memory(chance: random.Random, number: int, rare: bool) -> Memory:
    texts = [sentence(chance) for _ in range(5)]
    if number % 10 == 0:
        texts[1] += f", junto al {COMMON}"
    if rare:
        texts[2] += f", dijo el {RARE}"
    return Memory(name_of(number), KINDS[number % len(KINDS)], tuple(texts))


def newcomers(label: str, count: int) -> list[Memory]:
    """Further entities that no corpus holds."""
    chance = random.Random(label)
    return [Memory(f"{label} {n:05d}", "Event", tuple(sentence(chance) for _ in range(5))) for n in range(count)]


def links(count: int) -> list[tuple[str, str, str]]:
    """As many different relations as there are entities."""
    chance = random.Random(9)
    made: dict[tuple[str, str, str], None] = {}
    while len(made) < count:
        one, other = chance.randrange(count), chance.randrange(count)
        made[(name_of(one), chance.choice(LINKS), name_of(other))] = None
    return list(made)


def question(chance: random.Random) -> str:
    return f"{chance.choice(WHO)} {chance.choice(WHAT)}"

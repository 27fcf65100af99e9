"""Words of Spanish and English that mean the same in short statements, so that a question in one finds both.

Words are folded as `domain.text` makes them. Taken from the verbs and nouns of `domain.predicates`, and from words that
predicates are made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from evoca.domain.languages import ENGLISH, SPANISH, UNKNOWN
from evoca.domain.predicates import exonyms, known_forms
from evoca.domain.text import stems

_WORDS = """
edad ; age
cargo puesto empleo profesion oficio ; job position role occupation profession
empresa compania ; company employer
ubicacion lugar ; location place
pais ; country
ciudad ; city town
estado situacion ; status state
fecha ; date
nacimiento nacido nacida ; birth born
principal ; primary main
actual ; current present
gerente director directora responsable ; manager director head
gestiona dirige lidera supervisa coordina ; manages leads supervises directs coordinates
miembro miembros pertenece ; member members belongs
contiene incluye ; contains includes
dueno duena propietario propietaria ; owner owns
equipo ; team
pareja ; partner
socio socia ; partner associate
padres ; parents parent
alergico alergica alergia alergias ; allergic allergy allergies
aficion pasatiempo ; hobby hobbies
comida ; food meal
companero companera colega ; colleague coworker mate
cliente clienta ; client customer
proveedor proveedora ; supplier vendor provider
autor autora ; author
sede ; headquarters
nombre ; name
depende dependencia ; depends dependency
fundador fundadora ; founder
profesor profesora ; teacher professor
medico medica ; doctor physician
enfermedad ; illness disease
nacionalidad ; nationality
altura ; height
talla ; size
peso ; weight
salario sueldo ; salary wage
hijos ; children
hermanos ; siblings
mascota ; pet
barrio ; neighbourhood neighborhood district
calle ; street
viaje ; trip travel journey
licencia ; license licence
tarea ; task
prioridad ; priority
objetivo meta ; goal objective target
herramienta ; tool
"""


@cache
def _meanings() -> Mapping[int, Mapping[str, frozenset[str]]]:
    """For each language its stems → the stems of both that mean the same."""
    groups: list[tuple[Sequence[str], Sequence[str]]] = [
        (spanish.split(), english.split())
        for spanish, _, english in (line.partition(";") for line in _WORDS.split("\n") if line)
    ]
    groups += known_forms()
    found: dict[int, dict[str, set[str]]] = {SPANISH: {}, ENGLISH: {}}
    for spanish, english in groups:
        by_language = {SPANISH: stems(spanish, SPANISH), ENGLISH: stems(english, ENGLISH)}
        both = {stem for each in by_language.values() for stem in each}
        for language, members in by_language.items():
            for stem in members:
                found[language].setdefault(stem, set()).update(both)
    for spanish, english in exonyms():
        names = {*stems([spanish], SPANISH), *stems([english], ENGLISH)}
        for language, name in ((SPANISH, spanish), (ENGLISH, english)):
            found[language].setdefault(stems([name], language)[0], set()).update(names)
    return {language: {stem: frozenset(both) for stem, both in each.items()} for language, each in found.items()}


@lru_cache(4_096)
def equivalents(word: str, language: int) -> tuple[str, ...]:
    """Stems of the words of both languages that mean what this word of a query means; none for an unknown word.

    `language`: the query's; in one whose language is unknown the word may be of either.
    """
    languages = (SPANISH, ENGLISH) if language == UNKNOWN else (language,)
    found = {stem for each in languages for stem in _meanings()[each].get(stems([word], each)[0], ())}
    return tuple(sorted(found))

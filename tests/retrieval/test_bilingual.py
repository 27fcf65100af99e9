"""Spanish and English, with the model that ships by default."""

from __future__ import annotations

import pytest

from tests.retrieval.shelf import Shelf

PAIRS = [
    # a note, and a question to it in the other language
    ("The backup battery of the greenhouse lasts six hours", "¿cuánto dura la batería de respaldo del invernadero?"),
    ("El perro del faro se llama Trueno", "what is the lighthouse dog called?"),
    ("La imprenta abre a las ocho y media", "when does the print shop open?"),
    ("The rent is due on the fifth of each month", "¿qué día hay que pagar el alquiler?"),
    ("Mi abuela plantó el limonero en 1962", "who planted the lemon tree?"),
    ("Our neighbour keeps bees on the roof", "¿quién cría abejas en la azotea?"),
    ("El ascensor lleva roto desde el jueves", "since when has the lift been out of order?"),
    ("The choir rehearses in the old chapel", "¿dónde ensaya el coro?"),
    ("Guardamos las llaves de repuesto bajo la maceta azul", "where are the spare keys kept?"),
    ("The ferry does not run in strong wind", "¿cuándo no sale el transbordador?"),
    ("La niña es alérgica a las fresas", "which fruit makes the girl ill?"),
    ("He learned to swim when he was forty", "¿a qué edad aprendió a nadar?"),
    ("El tejado se reparó con pizarra de segunda mano", "what was the roof mended with?"),
    ("The museum is free on Sunday mornings", "¿cuándo se entra gratis al museo?"),
    ("Nuestro hijo mayor estudia veterinaria", "what is the eldest son studying?"),
    ("The bakery ran out of rye flour", "¿qué harina se acabó en la panadería?"),
    ("El técnico cambió el filtro de la piscina", "who replaced the pool filter?"),
    ("She writes her diary in green ink", "¿de qué color es la tinta de su diario?"),
    ("El autobús nocturno ya no para en la plaza", "where does the night bus no longer stop?"),
    ("The chess set is missing a white bishop", "¿qué pieza le falta al ajedrez?"),
]
OTHERS = [
    "El gimnasio cierra en agosto",
    "The printer needs new toner",
    "Las cortinas del salón son grises",
    "Tickets for the concert were refunded",
    "El vecino toca la trompeta",
    "The garden gate squeaks",
    "Pedimos dos sillas nuevas",
    "A storm knocked down the fence",
    "La sopa lleva demasiada sal",
    "The library card has expired",
]


def test_a_note_is_found_by_a_question_in_the_other_language(real_shelf: Shelf) -> None:
    for number, text in enumerate([note for note, _ in PAIRS] + OTHERS):
        real_shelf.put(f"note {number}", text)
    real_shelf.embed()
    ranks = {question: real_shelf.found(question).index(f"note {at}") for at, (_, question) in enumerate(PAIRS)}
    for direction in (ranks[question] for _, question in PAIRS), list(ranks.values())[::2], list(ranks.values())[1::2]:
        found = list(direction)
        assert sum(rank < 3 for rank in found) >= 0.9 * len(found), ranks


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("campana politica", "Campaña política de otoño"),
        ("reunion electrica", "Reunión con la compañía eléctrica"),
        ("cafe", "El café está caliente"),
        ("CAFÉ", "El café está caliente"),
        ("C++", "Aprende C++ y node.js"),
        ("node.js", "Aprende C++ y node.js"),
        ("100%", "sube 100% seguro"),
        ("3,5", "velocidad 3,5 GB/s"),
        ("campana", "La campana de la iglesia suena"),
        ("campaña", "Campaña política de otoño"),
    ],
)
def test_spelling_and_signs_are_found_beside_meaning(real_shelf: Shelf, query: str, text: str) -> None:
    texts = [
        "Campaña política de otoño",
        "La campana de la iglesia suena",
        "Reunión con la compañía eléctrica",
        "El café está caliente",
        "Aprende C++ y node.js",
        "Aprende C y Pascal",
        "sube 100% seguro",
        "velocidad 3,5 GB/s",
    ]
    for each in texts:
        real_shelf.put(each.lower(), each)
    real_shelf.embed()
    assert real_shelf.found(query)[0] == text.lower()


def test_the_end_of_a_long_text_is_found_by_meaning(real_shelf: Shelf) -> None:
    garden = (
        "En primavera se podan los rosales. Las tomateras necesitan un tutor de caña y mucho sol. El compost tarda "
        "varios meses en madurar y hay que removerlo cada semana. Los bulbos se entierran a diez centímetros. "
    )
    real_shelf.put("jardín", garden * 6 + "La contraseña del almacén la guarda el portero del número 4.")
    for number, text in enumerate(OTHERS):
        real_shelf.put(f"note {number}", text)
    real_shelf.embed()
    assert "jardín" in real_shelf.found("¿quién custodia la clave del depósito?")[:3]

"""Words that turn a statement round, in Spanish and English: negators, antonyms, prepositions.

Words are lower case without accents, as `domain.quantities.plain` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATORS = _listed(
    """
    no not nunca jamas never sin without ni nor neither tampoco ningun ninguna ninguno ningunos ningunas none nadie
    nobody nada nothing dejo dejaron stopped ceased
    """
)
NOT_NEGATIONS = (
    "no solo",
    "no solamente",
    "not only",
    "no obstante",
    "sin embargo",
    "sin duda",
    "no doubt",
    "without doubt",
)
"""Phrases with a negator that denies nothing."""
PREPOSITIONS = _listed(
    """
    a al ante bajo con contra de del desde durante en entre hacia hasta para por segun sobre tras que antes despues
    to from of in on by with for at into onto over under between against about before after than through via
    """
)
COORDINATORS = _listed("y e o u and or , ; / & +")

_PAIRS = """
abiert cerrad|abrir cerrar|abre cierr|open close|encendid apagad|enciend apag|on off|alto bajo|alta baja|altos bajos
altas bajas|high low|grande pequen|big small|large small|nuev viej|nuev antigu|new old|joven viej|young old
antes despues|before after|mas menos|more less|most least|mayor menor|mejor peor|better worse|best worst|primer ultim
first last|subir bajar|sube baja|subio bajo|aument disminuy|aument reduc|aument reduj|crec decrec|increas decreas
increas reduc|rais lower|rise fall|compr vend|buy sell|bought sold|acept rechaz|accept reject|accept refus
aprob rechaz|aprob suspend|approv reject|permit prohib|allow forbid|allow den|allow block|public privad|public private
facil dificil|easy hard|easy difficult|rapid lent|fast slow|quick slow|caro barat|cara barat|expensiv cheap
entrad salid|entra sal|input output|inici fin|empez termin|empiez termin|comenz termin|comienz termin|start end
start stop|start finish|begin end|siempre nunca|always never|todo nada|todos ningun|todos ninguno|all none
everyth nothing|verdad falso|verdad mentira|verdader fals|true false|si no|yes no|positiv negativ|intern extern
izquierd derech|left right|norte sur|north south|este oeste|east west|dentro fuera|inside outside|arriba abajo
above below|up down|in out|delante detras|front back|local remot|local remote|manual automatic|gan perd|gano perd
gana pierd|win lose|won lost|winner loser|viv muert|alive dead|am odi|ama odia|love hate|like dislike|gust disgust
llen vaci|full empty|clar oscur|light dark|bright dark|calient fri|caliente frio|hot cold|warm cold|fuerte debil
strong weak|larg cort|long short|anch estrech|wide narrow|dia noche|day night|minim maxim|minimum maximum|exit fracas
success fail|succeed fail|pass fail|recuerd olvid|record olvid|remember forget|lleg march|arriv leav|arriv depart
enviar recibir|envia recib|send receiv|sent receiv|cre borr|cre elimin|crear borrar|create delet|anad quit|anad elimin
add remov|activ desactiv|enabl disabl|con sin|with without|optional requir|optional mandatory|opcional obligatori
obligatori voluntari|sincron asincron|synchron asynchron|simetric asimetric|legal ilegal|mism distint|igual distint
same different|igual diferent|juntos separad|together apart|cerca lejos|near far|pront tarde|tempran tarde|early late
temporal permanent|temporary permanent|temporary definitive|simple complej|simple complex|rico pobre|rich poor
soltero casad|single married|presenc ausenc|present absent|pasad futur|past future|pasad proxim|last next
medic pacient|solid liquid|vivo muerto|viva muerta|vivos muertos|vivas muertas|seguro peligros|safe dangerous
segur insegur|limpi suci|clean dirty|apto inapto|ilimitad limitad|limited unlimited|suficient insuficient|gratuit pag
gratis pag|free paid|mayusculas minusculas|upper lower|ascendent descendent|ascending descending|vertical horizontal
hombre mujer|man woman|padre madre|father mother|hijo hija|son daughter|hermano hermana|brother sister|marido mujer
husband wife|profesor alumn|teacher student|cliente servidor|client server|frontend backend|master slave|read write
lee escrib|lectur escritur|import export|sum rest|ataqu defens|attack defen|amig enemig|friend enemy|par impar
even odd|noisy quiet|loud quiet|ruidos silencios|ruidos tranquil|calm agitad|rude polite|educad maleducad|tidy messy
ordenad desordenad|sweet sour|sweet bitter|dulc amarg|dulc salad|thick thin|grues fin|grues delgad|fat thin
gord delgad|heavy light|pesad liger|wet dry|mojad sec|humed sec|deep shallow|profund superficial|rough smooth
asper suav|sharp blunt|afilad rom|brave coward|valient cobard|generous stingy|generos tacan|lazy hardworking
vag trabajador|shy outgoing|timid extrovertid|introvert extrovert|introvertid extrovertid|happy sad|feliz triste
alegr trist|content trist|optimist pesimist|optimist pessimist|healthy sick|healthy ill|san enferm|awake asleep
despiert dormid|busy idle|ocupad libre|busy free|modern ancient|modern antigu|common rare|comun rar|frequent rare
frecuent rar|indefinid temporal|indefinid definid|fij temporal|fijo variable|fixed variable|fixed flexible
rigid flexible|static dynamic|estatic dinamic|single multiple|analog digital|mutable immutable|blocking nonblocking
lazy eager|strict lenient|strict permissive|estrict permisiv|broken working|rot reparad|broken fixed|stable unstable
fresh stale|fresc ranci|ripe unripe|maduro verde|raw cooked|crud cocinad|crud cocid|major minor|domestic foreign
nacional extranjer|urban rural|civil militar|innocent guilty|inocent culpable|married divorced|casad divorciad
hired fired|contratad despedid|sober drunk|sobri borrach|tall short|vegetarian carnivore|zurd diestr
lefthanded righthanded|theoretical practical|teoric practic|formal informal|official unofficial|oficial extraoficial
principal secundari|primary secondary|main secondary|super inferior|superior inferior|anterior posterior|previous next
previ siguient|frontal traser|front rear|upstream downstream|luminos oscur|bright dim|vacant occupied|vacant taken
desiert concurrid|crowded deserted|crowded empty|abundant escas|abundant scarce|plentiful scarce|useful useless
util inutil|kind cruel|amable antipatic|simpatic antipatic|friendly hostile|honest dishonest|loyal disloyal
patient impatient|puntual impuntual|ripe green|beautiful ugly|bonit fe|guap fe|pretty ugly|strong mild|fuert suav
concise detailed|concise verbose|brev extens|brev detallad|conscious unconscious|verano invierno|summer winter
"""
_PREFIXES = ("in", "im", "ir", "il", "des", "dis", "de", "un", "non", "anti", "mal")
_WHOLE = 4
"""A shorter entry of the list is a whole word, a longer one the beginning of words."""
_ENDING = 5
_BASE = 4


def _opposites() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in _PAIRS.split("\n"):
        for pair in filter(None, line.split("|")):
            one, other = pair.split()
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return found


_OPPOSITES = _opposites()


def are_antonyms(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether a word of one set is the opposite of a word of the other."""
    left, right = list(one), list(other)
    if not left or not right:
        return False
    entries = {entry for word in right for entry in _entries(word)}
    if any(not entries.isdisjoint(_OPPOSITES[entry]) for word in left for entry in _entries(word)):
        return True
    return _denied(left, right) or _denied(right, left)


def _entries(word: str) -> list[str]:
    """The list's entries that the word belongs to."""
    least = max(2, len(word) - _ENDING)
    return [
        word[:size]
        for size in range(least, len(word) + 1)
        if word[:size] in _OPPOSITES and (size == len(word) or size >= _WHOLE)
    ]


def _denied(words: Iterable[str], bases: Iterable[str]) -> bool:
    """Whether a word is the denial of a base: `inactivo` of `activa`, `unlocked` of `locked`."""
    by_beginning: dict[str, list[str]] = {}
    for base in bases:
        if len(base) >= _BASE:
            by_beginning.setdefault(base[:_ENDING], []).append(base)
    for word in words:
        for prefix in _PREFIXES:
            if word.startswith(prefix):
                bare = word[len(prefix) :]
                if any(abs(len(bare) - len(base)) <= 2 for base in by_beginning.get(bare[:_ENDING], ())):
                    return True
    return False

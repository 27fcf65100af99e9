"""Function words that steer a statement, in Spanish and English, folded: what denies, counts, doubts, asks, places.

Used by `domain.wording`, `domain.verb_groups` and `domain.clauses`.
"""

from __future__ import annotations

from evoca.domain.languages import ENGLISH_STOP_WORDS, SPANISH_STOP_WORDS


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = SPANISH_STOP_WORDS | ENGLISH_STOP_WORDS
NOT = listed("no not nunca jamas never tampoco")
NOTHING = listed("ningun ninguno ninguna nadie nada none nobody nothing neither")
ALL = listed("todo toda todos todas all every each cada everybody everyone ambos both")
SOME = listed(
    """
    algun alguna algunas alguno algunos some several varios varias muchos muchas many most few pocos mayoria half mitad
    """
)
DEFINITE = listed("el la los las the mi mis my su sus his her their our nuestro nuestra tu your")
INDEFINITE = listed("un una unos unas a an another otro otra otros otras other any uno one alguien someone somebody")
DEMONSTRATIVES = listed("this that these those este esta estos estas ese esa esos esas aquel aquella aquellos aquellas")
ADDITIVE = listed("tambien also too ademas additionally otro otra otros otras another other incluso even besides")
ONLY = listed("only solo solamente unicamente exclusively exclusivamente")
ROUGH = listed(
    """
    about around casi almost nearly aproximadamente approximately roughly over under least minimo maximo hasta upto
    menos mas more less between entre unos unas up most
    """
)
"""They make a number a bound or a guess."""
FILLERS = listed(
    """
    ahora now currently actualmente ya still aun todavia siempre always very muy really bastante quite already just
    please nowadays anymore any longer more mas also tambien too even incluso there alli aqui here all at such as asi
    pretty rather recently recientemente finally finalmente well then entonces own propio propia
    """
)
"""Adverbs that change nothing of what is said."""
DOUBT = listed(
    """
    maybe perhaps quizas quiza probablemente probably possibly posiblemente seguramente parece seems apparently
    supposedly ojala hopefully hope hopes suena sueno dream dreams dreamed imagine imagina pretend wonder wonders
    someday hypothetically would podria podrian gustaria deberia could might may parecia
    """
)
CONDITIONS = listed("if unless si cuando when whenever whether salvo excepto except aunque until")
REPORTS = listed(
    """
    dice dicen dijo digo dijeron cree creen creo creia piensa piensan pienso opina opinan segun asegura afirma afirmo
    says said say thinks think thought believes believe believed claims claim claimed told tells heard according rumor
    rumour guess supongo supone suppose sospecha suspects
    """
)
ASKING = listed("why what how where who when which")
PREPOSITIONS = {
    word: canonical
    for canonical, words in {
        "in": "en in inside dentro",
        "on": "on",
        "as": "como as",
        "at": "at",
        "with": "con with",
        "without": "sin without",
        "to": "a al to hacia",
        "from": "from desde since",
        "for": "para for",
        "by": "por by via through mediante",
        "over": "over sobre encima above",
        "under": "bajo under debajo below",
        "against": "contra against",
        "between": "entre between",
        "near": "cerca near junto beside next",
        "behind": "detras behind tras",
        "before": "antes ante before delante",
        "after": "despues after",
        "during": "durante during",
        "until": "hasta until",
        "than": "than",
        "into": "into onto",
        "about": "about",
    }.items()
    for word in words.split()
}
"""word → the English preposition that stands for it; `de` and `of` join and are none."""
JOINING = listed("de del of")
RELATIVES = listed("que who which that whose because porque cuyo cuya donde where while mientras since")
COORDINATE = listed("y e and but pero mientras while aunque though although sino")
CLITICS = listed("me te se le les nos os lo")
COMPARATIVES = listed("mas menos more less mayor menor mejor peor better worse rather")
PERSONS = {
    word: person
    for person, words in {
        "USER": "i me my mine myself yo mi mis conmigo user usuario usuaria",
        "WE": "we us our ours nosotros nuestro nuestra nuestros nuestras",
        "YOU": "you your yours tu tus usted ustedes vosotros",
        "HE": "he him his",
        "SHE": "she her hers ella",
        "THEY": "they them their theirs ellos ellas",
        "IT": "it its",
        "POSS": "su sus",
    }.items()
    for word in words.split()
}
"""Pronoun or possessive → who is meant; in a memory `I` is its user."""
USERS = listed("user usuario usuaria")
BREAKS = frozenset(",:=()\u2014")
SENTENCE_ENDS = frozenset(".;!?\n\u2026")

"""The verb of a clause with what stands around it: auxiliaries, negators, clitics (Spanish and English).

There is no grammar here: known verbs are found by `domain.predicates`, unknown ones by their place and ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evoca.domain.languages import ENGLISH, SPANISH
from evoca.domain.predicates import CESSATIVES, EXPERIENCED, MODALS, PASSIVES, is_verb_form, verb_concept
from evoca.domain.steering import (
    ALL,
    BREAKS,
    CLITICS,
    DEFINITE,
    INDEFINITE,
    JOINING,
    NOT,
    NOTHING,
    PREPOSITIONS,
    RELATIVES,
    SOME,
    STOP_WORDS,
    listed,
)
from evoca.domain.text import stems
from evoca.domain.wording import Token

Tense = Literal["present", "past", "perfect"]

_BE = listed("is are am was were be been being")
_AUXILIARIES = _BE | listed("has have had do does did") | {word for word, modal in MODALS.items() if modal != "could"}
_SPANISH_AUXILIARIES = listed(
    """
    es son soy eres somos era eran esta estan estoy estamos estaba estaban fue fueron estuvo sera seran ha han he hemos
    habia habian tiene tienen tengo tenemos tenia tenian hay habia hubo va van voy vamos puede puedo pueden podemos
    debe debo deben suele suelo
    """
)
_PAST_ENGLISH = listed(
    """
    was were had did went came saw took gave began shut left ate drank spoke knew wrote ran taught sold bought flew
    drove wore kept held won lost slept sent met made sat built rose fell broke got said told thought found paid spent
    felt became heard led grew drew sang swam forgot chose hid beat
    """
)
_PAST_SPANISH = listed(
    """
    fue fueron fui tuvo estuvo hizo hice dijo vino puso pudo quiso supo trajo dio vio tuvieron estuvieron hicieron era
    eran estaba estaban habia tenia tenian hubo nacio murio
    """
)
_IMPERFECT = ("aba", "aban", "abas", "\u00eda", "\u00edan", "abamos", "\u00e1bamos")
_PRETERITE = ("\u00f3", "aron", "ieron", "\u00e9", "\u00ed", "aste", "iste")
_FUTURE = ("r\u00e1", "r\u00e1n", "r\u00e9", "remos")
_CONDITIONAL = ("r\u00eda", "r\u00edan")
_SPANISH_PARTICIPLES = (
    *("ado", "ada", "ados", "adas", "ido", "ida", "ito", "ita", "itos", "itas"),
    *("echo", "isto", "ista"),
)
_SPANISH_ENDINGS = ("a", "e", "an", "en", "o", "aron", "ieron")
_BEFORE_VERBS = listed("no nunca se me le yo siempre ya always never he she it ahora now tambien also")
_INFINITIVES = ("r", "rse", "rlo", "rla")
_PARTICIPLES = listed(
    """
    been had written run born built kept held made sold bought paid taught known given taken gone come seen done found
    left lost won met sent spoken eaten drunk shut told grown begun chosen driven flown worn set put read got
    """
)
_DECIDED = listed("decidido decidimos decidio decidi decidieron acordado acordamos decided agreed")
_INSIDE = (
    NOT
    | CLITICS
    | listed("ya also still always just now currently really actually tambien siempre aun todavia only solo longer")
)
"""What may stand between the words of a verb's group."""
_NO_VERB_AFTER = (
    DEFINITE
    | INDEFINITE
    | frozenset(PREPOSITIONS)
    | JOINING
    | ALL
    | SOME
    | NOTHING
    | listed("y e o u and or this este ese")
) - listed("a one uno hasta all todo cada tu nada nadie nobody everyone everybody")
_HOMOGRAPHS = listed("casa parte")
"""Verbs that are far more often nouns: only after a clitic or a negator."""


@dataclass(slots=True)
class VerbGroup:
    """Tokens `begin` to `end` (not included) are the verb's group.

    `verb`: a concept, `~` and a stem for an unknown verb, "" for none. `person`: 1, 3 or 4 (we) for a Spanish verb,
    else 0. `negations`: how many the group holds. `moved`: it says where someone now lives by saying that they moved.
    `experienced`: `me gusta`, of which I am the subject. `unsure`: it says what would be.
    """

    begin: int = 0
    end: int = 0
    verb: str = ""
    tense: Tense = "present"
    modal: str = ""
    person: int = 0
    negations: int = 0
    plural: bool = False
    moved: bool = False
    experienced: bool = False
    unsure: bool = False


def verb_group(tokens: Sequence[Token], language: int) -> VerbGroup:
    """The first verb's group. Without a verb a colon is one: `puerto: 8080`; else the group is empty, at the end."""
    finder = _Finder(tokens, language)
    at = finder.finite()
    if at is None:
        for place, token in enumerate(tokens):
            if token.folded in (":", "=") and 0 < place < len(tokens) - 1:
                return VerbGroup(place, place + 1, "be")
        at = finder.unknown()
    return VerbGroup(len(tokens), len(tokens)) if at is None else finder.group(at)


def may_be_verb(tokens: Sequence[Token], at: int, language: int) -> bool:
    """Whether the word is known as a verb and stands where a verb can stand."""
    token = tokens[at]
    word = token.folded
    if token.date or not word or token.capital or word in BREAKS:
        return False
    before = tokens[at - 1].folded if at else ""
    barred = bool(at) and (before in _NO_VERB_AFTER or before == "a")
    if language == ENGLISH:
        if word in _AUXILIARIES:
            return True
    elif word in _SPANISH_AUXILIARIES:
        # An unaccented `esta` that begins the text or follows a preposition is `this`.
        return word != "esta" or token.written != "esta" or not (at == 0 or before in _NO_VERB_AFTER)
    elif before and word.endswith("r"):
        return False
    if barred or (word in _HOMOGRAPHS and before not in ("se", "no")):
        return False
    return verb_concept(word, token.stem, language) is not None


class _Finder:
    def __init__(self, tokens: Sequence[Token], language: int) -> None:
        self.tokens = tokens
        self.language = language
        self.found = VerbGroup()

    # -- the finite verb

    def finite(self) -> int | None:
        """Where the verb that carries person and tense stands, if it is known."""
        tokens, language = self.tokens, self.language
        known = [at for at in range(len(tokens)) if may_be_verb(tokens, at, language)]
        if not known:
            return None
        first = known[0]
        if first == 0 and len(known) > 1 and not is_verb_form(tokens[0].folded, language):
            # `Tomás no toma`: a name that sounds like a verb.
            del known[0]
            first = known[0]
        if language != ENGLISH:
            return first
        auxiliary = next((at for at in known if tokens[at].folded in _AUXILIARIES), None)
        if auxiliary is None or auxiliary == first:
            return self._second_of_two(known)
        # `error logs are stored`: the first is a noun, unless another clause begins between the two.
        inflected = first > 0 and tokens[first].folded.endswith(("s", "ed"))
        apart = any(token.folded in RELATIVES or token.folded in BREAKS for token in tokens[first:auxiliary])
        return first if inflected and apart else auxiliary

    def _second_of_two(self, known: Sequence[int]) -> int:
        """`The build takes`: of neighbours that may both be verbs the second one, inflected, is it."""
        first = known[0]
        if len(known) > 1 and known[1] == first + 1:
            word, following = self.tokens[first].folded, self.tokens[known[1]].folded
            bare = not word.endswith(("s", "ed")) and word not in _AUXILIARIES and word not in MODALS
            if bare and following.endswith(("s", "ed")):
                return known[1]
        return first

    def unknown(self) -> int | None:
        """A word that nobody knows as a verb, by its place and ending: surest first."""
        likely, possible = (
            (self._likely_english, self._possible_english)
            if self.language == ENGLISH
            else (self._likely_spanish, self._possible_spanish)
        )
        places = [
            at
            for at, token in enumerate(self.tokens)
            if at and not token.capital and token.folded.isalpha() and token.folded not in STOP_WORDS
        ]
        for judge in (likely, possible):
            found = next((at for at in places if judge(at)), None)
            if found is not None:
                return found
        return None

    def _likely_english(self, at: int) -> bool:
        before, word = self.tokens[at - 1], self.tokens[at].folded
        if before.folded in ("i", "we", "they", "you", "not"):
            return True
        inflected = word.endswith(("s", "ed")) and not word.endswith("ss")
        return inflected and (before.capital or before.folded in _BEFORE_VERBS)

    def _possible_english(self, at: int) -> bool:
        before, word = self.tokens[at - 1].folded, self.tokens[at].folded
        return word.endswith(("s", "ed")) and not word.endswith("ss") and before not in _NO_VERB_AFTER

    def _likely_spanish(self, at: int) -> bool:
        before, word = self.tokens[at - 1], self.tokens[at].folded
        if before.folded in _BEFORE_VERBS:
            return True
        return before.capital and word.endswith(_SPANISH_ENDINGS)

    def _possible_spanish(self, at: int) -> bool:
        before, word = self.tokens[at - 1].folded, self.tokens[at].folded
        return word.endswith(_SPANISH_ENDINGS) and before.isalpha() and before not in _NO_VERB_AFTER

    # -- its group

    def group(self, at: int) -> VerbGroup:
        end = self._english(at) if self.language == ENGLISH else self._spanish(at)
        found = self.found
        found.begin, found.end = self._begin(at), end
        group = {token.folded for token in self.tokens[found.begin : end]}
        found.experienced = "me" in group and bool(group & EXPERIENCED)
        if found.verb == "move" and self._word(end) in ("to", "a", "al") and found.tense != "present":
            found.verb, found.tense, found.moved = "live", "present", True
        return found

    def _word(self, at: int) -> str:
        return self.tokens[at].folded if at < len(self.tokens) else ""

    def _take(self, at: int) -> int:
        """The token is the main verb. Returns the place after it."""
        if at < len(self.tokens):
            self.found.verb = self._concept(at)
        return at + 1 if at < len(self.tokens) else at

    def _english(self, at: int) -> int:
        found = self.found
        word = self._word(at)
        if word in _PAST_ENGLISH or (word.endswith("ed") and word not in ("need", "feed")):
            found.tense = "past"
        found.plural = word in ("are", "were")
        at = self._past_adverbs(self._take(at))
        following = self._word(at)
        if word in MODALS:
            found.modal = MODALS[word]
            if following and (following not in STOP_WORDS or following in _BE or following in ("have", "do")):
                found.tense, word = "present", following
                at = self._past_adverbs(self._take(at))
        elif word in ("do", "does", "did"):
            return self._take(at)
        elif word in ("has", "have", "had") and self._is_participle(at):
            word, at = self._perfect(at)
        if word in _BE:
            return self._after_be(at)
        return self._catenated(word, at)

    def _perfect(self, at: int) -> tuple[str, int]:
        """`has lived`, `has got`, `has been closed`: (the participle, the place after it)."""
        found, word = self.found, self._word(at)
        found.tense = "perfect"
        at = self._past_adverbs(self._take(at))
        if word == "got":
            found.tense, found.verb = "present", "have"
        elif word == "been" and at < len(self.tokens) and self._is_participle(at):
            # It says how it is.
            found.tense = "present"
        return word, at

    def _after_be(self, at: int) -> int:
        word = self._word(at)
        if word == "going" and self._word(at + 1) == "to":
            self.found.modal = "future"
            return at
        going_on = len(word) > 4 and word.endswith("ing") and verb_concept(word, self.tokens[at].stem, ENGLISH)
        return self._take(at) if going_on or (word and self._is_passive(at)) else at

    def _catenated(self, word: str, at: int) -> int:
        """`decided to use`, `quit smoking`, `used to live`: the verb that counts is the second."""
        found, following = self.found, self._word(at)
        if word in _DECIDED and following == "to":
            found.tense = "present"
            return self._take(at + 1)
        if word in CESSATIVES and following.endswith("ing"):
            found.tense = "present"
            found.negations += 1
            return self._take(at)
        if word == "used" and following == "to":
            found.tense = "past"
            return self._take(at + 1)
        return at

    def _spanish(self, at: int) -> int:
        found, token = self.found, self.tokens[at]
        word = token.folded
        self._inflect(token)
        found.plural = word in ("son", "estan", "eran", "estaban", "fueron")
        at = self._past_adverbs(self._take(at))
        following = self._word(at)
        if word in MODALS or word in ("suele", "suelo"):
            found.modal = MODALS.get(word, "")
            return self._take(at) if following.endswith(_INFINITIVES) else at
        if word in ("va", "voy", "van", "vamos") and following == "a" and self._is_infinitive(at + 1):
            found.modal = "future"
            return at
        if word in ("ha", "han", "he", "hemos", "habia", "habian") and self._is_participle(at):
            return self._compound(word, at)
        if word in _DECIDED and self._is_infinitive(at):
            found.tense = "present"
            return self._take(at)
        if word in CESSATIVES and following == "de" and self._is_infinitive(at + 1):
            found.tense = "present"
            found.negations += 1
            return self._take(at + 1)
        if found.verb == "be" and following:
            if word in ("fue", "fueron", "fui") and following in ("a", "al"):
                found.verb = "go"
            elif following.endswith(("ando", "iendo", "yendo")) or self._is_passive(at):
                return self._take(at)
        return at

    def _compound(self, word: str, at: int) -> int:
        """`ha vivido`, `había vivido`, `hemos decidido usar`, `ha sido escrito`."""
        found, participle = self.found, self._word(at)
        found.tense = "past" if word.startswith("habia") else "perfect"
        at = self._take(at)
        if participle in _DECIDED and self._is_infinitive(at):
            found.tense = "present"
            return self._take(at)
        return self._take(at) if participle == "sido" and self._word(at) and self._is_passive(at) else at

    def _inflect(self, token: Token) -> None:
        """Tense and person of a Spanish verb, from its ending."""
        found, written = self.found, token.written
        if token.folded in _PAST_SPANISH or written.endswith(_IMPERFECT + _PRETERITE):
            found.tense = "past"
        elif written.endswith(_CONDITIONAL):
            found.unsure = True
        elif written.endswith(_FUTURE):
            found.modal = "future"
        if token.folded.endswith("mos"):
            found.person = 4
        else:
            found.person = 1 if token.folded in ("he", "se") or written.endswith(("o", "oy", "\u00e9")) else 3

    def _is_infinitive(self, at: int) -> bool:
        return self._word(at).endswith(_INFINITIVES)

    def _is_participle(self, at: int) -> bool:
        word = self._word(at)
        if self.language == ENGLISH:
            return word.endswith("ed") or word in _PARTICIPLES
        return word.endswith(_SPANISH_PARTICIPLES)

    def _is_passive(self, at: int) -> bool:
        """`is written`, `está casada con`; `está casada` alone is what she is."""
        concept = self._concept(at)
        joined = self._word(at + 1) in ("to", "con", "with")
        return self._is_participle(at) and concept in PASSIVES and (concept != "marry" or joined)

    def _past_adverbs(self, at: int) -> int:
        """Past what may stand inside a verb's group, counting its negations."""
        while self._word(at) in _INSIDE:
            self.found.negations += self._word(at) in NOT
            at += 1
        return at

    def _begin(self, at: int) -> int:
        """Where the verb's group begins: its clitics and negators stand before the verb."""
        while at and self.tokens[at - 1].folded in CLITICS | NOT:
            at -= 1
            self.found.negations += self.tokens[at].folded in NOT
        return at

    def _concept(self, at: int) -> str:
        token = self.tokens[at]
        word, stem = token.folded, token.stem
        if self.language != ENGLISH and word.endswith("rse"):
            word = word[:-2]
            stem = stems([word], SPANISH)[0]
        return verb_concept(word, stem, self.language) or f"~{stem}"

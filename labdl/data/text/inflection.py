"""English verbs and nouns in their forms: tables of irregular and common words, rules for the others."""

from __future__ import annotations

import functools
from collections.abc import Iterable

# base and past
_IRREGULAR_VERBS = """
become became begin began bend bent bind bound bite bit blow blew break broke bring brought build built buy bought catch
caught choose chose come came cut cut deal dealt dig dug do did draw drew drink drank drive drove eat ate fall fell feed fed
feel felt fight fought find found fly flew forget forgot forgive forgave freeze froze get got give gave go went grow grew hang
hung have had hear heard hide hid hit hit hold held hurt hurt keep kept know knew lay laid lead led leave left lend lent let
let lie lay lose lost make made mean meant meet met pay paid put put ride rode ring rang rise rose run ran say said see saw
seek sought sell sold send sent shake shook shine shone shoot shot show showed shut shut sing sang sink sank sit sat sleep
slept slide slid speak spoke spend spent spin spun stand stood steal stole stick stuck strike struck swear swore swim swam
swing swung take took teach taught tear tore tell told think thought throw threw understand understood wake woke wear wore
win won write wrote
"""
_REGULAR_VERBS = """
accept add agree allow answer appear arrive ask believe belong call carry change clean climb close collect compare contain
continue cook count cover create cry dance decide depend describe develop die discover discuss enjoy enter exist expect
explain fail fill finish follow force happen hate help hope imagine improve include increase inform join jump kick kill laugh
learn like listen live look love manage mention miss move need notice obtain occur offer open pass plan play prefer prepare
produce promise protect prove provide pull push reach receive reduce remain remember remove repeat reply report require
return save seem serve share smile start stay stop study suffer suggest support suppose talk touch train travel try turn use
visit wait walk want warn wash watch wish work worry
"""
_IRREGULAR_NOUNS = """
man men woman women child children foot feet tooth teeth goose geese mouse mice person people ox oxen leaf leaves knife knives
life lives wife wives half halves shelf shelves wolf wolves calf calves loaf loaves thief thieves scarf scarves
sheep sheep fish fish deer deer series series species species analysis analyses basis bases crisis crises thesis theses
phenomenon phenomena criterion criteria
"""
_REGULAR_NOUNS = """
actor animal answer apple army arm artist baby bag ball band bank bed bird boat body book bottle box boy bridge brother bus
camera car card cat chair church city class clock cloud coat college color company computer country cow cup daughter day desk
doctor dog door dress driver ear egg engine eye face fact family farmer father field figure film flower force fox friend game
garden girl glass group guest hand hat heart hill home horse hospital hotel hour house idea island job key king kitchen lady
lake language law letter line lion list machine map market meal method minute mirror model month mother mountain name nation
night nose number office page painting parent park part party pen picture place plane planet plant plate player poem point
problem project queen question radio rain region report restaurant river road rock room school ship shop sister sky soldier
son song star state station stone story street student sun system table teacher team test theory tool town toy train tree
uncle university valley village voice wall watch week window word worker writer year
"""
_DOUBLING = "plan stop drop shop chat admit permit refer occur prefer step slip trip grab rub rob beg hug fit"
_DOUBLED = frozenset(_DOUBLING.split())
_VOWELS = "aeiou"


def past_of(verb: str) -> str:
    """Past tense of a verb in its base form."""
    known = _verbs().get(verb)
    if known is not None:
        return known
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ed"


def present_of(verb: str) -> str:
    """Third person of the present of a verb in its base form."""
    special = {"have": "has", "do": "does", "go": "goes", "be": "is"}
    return special.get(verb) or add_s(verb)


def add_s(word: str) -> str:
    """The word with -s, -es or -ies."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


@functools.cache
def _verbs() -> dict[str, str]:
    words = _IRREGULAR_VERBS.split()
    return dict(zip(words[::2], words[1::2], strict=True))


@functools.lru_cache(8)
def verb_forms(further: tuple[tuple[str, str], ...] = ()) -> dict[str, tuple[str, str]]:
    """Known forms of verbs to (base, "base", "third" or "past"); ``further`` are pairs of base and past."""
    forms: dict[str, tuple[str, str]] = {}
    pairs = [*further, *_verbs().items(), *((verb, past_of(verb)) for verb in _REGULAR_VERBS.split())]
    for base, past in pairs:
        # a form that several verbs share ("found", "lay") keeps the more basic meaning
        for form, kind in ((base, "base"), (present_of(base), "third"), (past, "past")):
            forms.setdefault(form, (base, kind))
    for base, _ in pairs:
        forms[base] = (base, "base")
    return forms


@functools.lru_cache(8)
def noun_forms(further: tuple[tuple[str, str], ...] = ()) -> tuple[dict[str, str], dict[str, str]]:
    """Plurals of known singulars, and singulars of known plurals; ``further`` are pairs of them."""
    words = _IRREGULAR_NOUNS.split()
    pairs: Iterable[tuple[str, str]] = [
        *((noun, add_s(noun)) for noun in _REGULAR_NOUNS.split()),
        *zip(words[::2], words[1::2], strict=True),
        *further,
    ]
    plurals = dict(pairs)
    return plurals, {plural: singular for singular, plural in plurals.items()}


def same_case(word: str, like: str) -> str:
    """The word in capitals, or with a capital letter first, as another word is."""
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word

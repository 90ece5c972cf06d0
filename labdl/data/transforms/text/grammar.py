"""Changes of grammar by tables and rules: the tense of English verbs, the number of English nouns."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from labdl.data.parts import Text, Tokens
from labdl.data.text.inflection import noun_forms, past_of, present_of, same_case, verb_forms
from labdl.data.transforms.text.word_noise import join_pieces, split_at_words
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError
from labdl.settings import INNER, Share

Pairs = tuple[tuple[str, str], ...]
_PRESENT = {
    "am": "was",
    "is": "was",
    "are": "were",
    "has": "had",
    "have": "had",
    "does": "did",
    "do": "did",
    "can": "could",
}
_PAST = {"was": "is", "were": "are", "had": "has", "did": "does", "could": "can"}
# behind these, a verb is an infinitive, a participle or no verb at all
_NO_FINITE_VERB = """
to will would shall should can could may might must do does did don't doesn't didn't is are was were be been being am has
have had a an the this that these those my your his her its our their no some any every each of in on at by for with
"""
_NO_FINITE = frozenset(_NO_FINITE_VERB.split())
_PLURAL_SUBJECTS = frozenset(("i", "you", "we", "they", "these", "those", "people"))


def _pairs(owner: Transform, value: Any) -> Pairs:
    pairs = tuple(value.items()) if isinstance(value, dict) else value
    valid = isinstance(pairs, tuple) and all(
        isinstance(p, tuple) and len(p) == 2 and all(isinstance(w, str) and w for w in p) for p in pairs
    )
    if not valid:
        raise ConfigError(f'{type(owner).__name__} wants pairs such as (("cat", "cats"),), received {value!r:.80}')
    return pairs


@transform({"tense": "past"})
class ChangeTense(Transform):
    """Put the English verbs that the tables know into the past, present or future tense, with a probability ``p``.

    ``verbs`` are further pairs of base and past. Verbs behind auxiliaries,
    articles and prepositions stay as they are. The sentence is not parsed: this perturbs, it does not correct. Source:
    T/AII 008-2023, 6.2.2.2, changes of grammar.
    """

    tense: Literal["past", "present", "future"] = "past"
    verbs: Any = field(default=(), metadata=INNER)
    p: Share = 1.0

    def check_settings(self) -> None:
        self.verbs = _pairs(self, self.verbs)

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        pieces = split_at_words(text)
        pieces[1::2] = self._change(pieces[1::2])
        return Text(join_pieces(pieces))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(piece for word in self._change(list(tokens)) for piece in word.split(" "))

    def _change(self, words: list[str]) -> list[str]:
        forms = verb_forms(self.verbs)
        result, before = [], ""
        for word in words:
            small = word.lower()
            known = forms.get(small)
            if before not in _NO_FINITE and small in (_PRESENT if self.tense != "present" else _PAST):
                new = _PRESENT[small] if self.tense == "past" else self._auxiliary(small, before)
            elif known is not None and before not in _NO_FINITE and before:
                new = self._inflect(*known, before, small)
            else:
                new = small
            result.append(word if new == small else same_case(new, word))
            before = small
        return result

    def _auxiliary(self, word: str, before: str) -> str:
        if self.tense == "present":
            if word == "had":
                return "have" if _is_plural(before) else "has"
            return (
                "do"
                if word == "did" and _is_plural(before)
                else "am"
                if word == "was" and before == "i"
                else _PAST[word]
            )
        return {"am": "will be", "is": "will be", "are": "will be", "has": "will have", "have": "will have"}.get(
            word, word
        )

    def _inflect(self, base: str, kind: str, before: str, word: str) -> str:
        if self.tense == "past":
            further = dict(self.verbs)
            return word if kind == "past" else further.get(base) or past_of(base)
        if self.tense == "future":
            return f"will {base}"
        if kind != "past":
            return word
        return base if _is_plural(before) else present_of(base)


def _is_plural(subject: str) -> bool:
    plurals, singulars = noun_forms()
    return subject in _PLURAL_SUBJECTS or (subject in singulars and subject not in plurals)


_TO_PLURAL = {"a": "some", "an": "some", "this": "these", "that": "those", "one": "two", "each": "all", "every": "all"}
_TO_SINGULAR = {
    "some": "a",
    "these": "this",
    "those": "that",
    "two": "one",
    "many": "one",
    "several": "one",
    "all": "every",
}
_VERB_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}
_VERB_TO_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}


@transform({"number": "plural"})
class ChangeNumber(Transform):
    """Put the English nouns that the tables know into the plural or singular, with a probability ``p``.

    Articles and pronouns up to two words before a noun, and the verb behind it, change with it. ``nouns`` are further pairs of
    singular and plural. The sentence is not parsed: this perturbs, it does not correct. Source: T/AII 008-2023, 6.2.2.2,
    changes of grammar.
    """

    number: Literal["plural", "singular"] = "plural"
    nouns: Any = field(default=(), metadata=INNER)
    p: Share = 1.0

    def check_settings(self) -> None:
        self.nouns = _pairs(self, self.nouns)

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        pieces = split_at_words(text)
        pieces[1::2] = self._change(pieces[1::2])
        return Text(join_pieces(pieces))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(self._change(list(tokens)))

    def _change(self, words: list[str]) -> list[str]:
        plurals, singulars = noun_forms(self.nouns)
        plural = self.number == "plural"
        nouns, determiners = (plurals, _TO_PLURAL) if plural else (singulars, _TO_SINGULAR)
        verbs = _VERB_TO_PLURAL if plural else _VERB_TO_SINGULAR
        forms = verb_forms()
        result = list(words)
        for at, word in enumerate(words):
            small = word.lower()
            if small not in nouns or (small in forms and not self._has_determiner(words, at)):
                continue
            # "house" of "house door" describes the noun behind it
            if at + 1 < len(words) and words[at + 1].lower() in nouns and words[at + 1].lower() not in forms:
                continue
            result[at] = same_case(nouns[small], word)
            self._change_determiner(result, words, at, determiners)
            if at + 1 < len(words):
                result[at + 1] = self._agree(words[at + 1], verbs, forms, plural)
        return result

    def _has_determiner(self, words: list[str], at: int) -> bool:
        known = {*_TO_PLURAL, *_TO_SINGULAR, "the", "my", "your", "his", "her", "its", "our", "their"}
        return any(word.lower() in known for word in words[max(0, at - 2) : at])

    def _change_determiner(self, result: list[str], words: list[str], at: int, determiners: dict[str, str]) -> None:
        for before in (at - 1, at - 2):
            if before < 0:
                return
            small = words[before].lower()
            if small in determiners:
                new = determiners[small]
                following = result[before + 1][:1].lower()
                result[before] = same_case("an" if new == "a" and following in tuple("aeiou") else new, words[before])
                return

    def _agree(self, verb: str, verbs: dict[str, str], forms: dict[str, tuple[str, str]], plural: bool) -> str:
        small = verb.lower()
        if small in verbs:
            return same_case(verbs[small], verb)
        base, kind = forms.get(small, ("", ""))
        if kind == ("third" if plural else "base"):
            return same_case(base if plural else present_of(base), verb)
        return verb

"""The sentences that Python makes, in the language of who reads them: errors, problems of a graph, `labdl doctor`."""

from labdl.translation.catalog import translate, translate_answer
from labdl.translation.form_texts import translate_form
from labdl.translation.language import asked_language

__all__ = ["asked_language", "translate", "translate_answer", "translate_form"]

"""Text generation by models that predict the next token: greedy, by beams, or sampled, with a cache of keys and values."""

from labdl.generation.generate import Generation, Piece, generate
from labdl.generation.settings import GenerationSettings

__all__ = ["Generation", "GenerationSettings", "Piece", "generate"]


def __dir__() -> list[str]:
    return sorted(__all__)

"""Pictures as arrays of other axes: channels first, channels in another order, patches."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from labdl.data.parts import Image, Video
from labdl.data.transforms.image.sizes import Size, pair
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError


@transform
class Transpose(Transform):
    """Change the order of the axes of pictures; the default makes channels the first, as PyTorch and MindSpore want them.

    The result is a plain array, so it stands at the end of a pipeline; clips keep their frames in front. Source:
    mindspore.dataset.vision.HWC2CHW and paddle.vision.transforms.Transpose.
    """

    axes: tuple[int, int, int] = (2, 0, 1)

    def check_settings(self) -> None:
        if sorted(self.axes) != [0, 1, 2]:
            raise ConfigError(f"Transpose: axes wants 0, 1 and 2 in another order, received {self.axes}")

    def apply_to(self, part: Any, params: Parameters) -> Any:
        method = self.method_of(part)
        return part if method is None else getattr(self, method)(part, params)

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return image.view(np.ndarray).transpose(self.axes)

    def apply_to_video(self, video: Video, params: Parameters) -> np.ndarray:
        return video.array.transpose(0, *(axis + 1 for axis in self.axes))


@transform
class PermuteChannels(Transform):
    """Put channels into the order of ``permutation``, such as (2, 1, 0), or into a random one.

    Source: torchvision.transforms.v2.functional.permute_channels and RandomChannelPermutation.
    """

    permutation: tuple[int, ...] | None = None

    def check_settings(self) -> None:
        if self.permutation is not None and sorted(self.permutation) != list(range(len(self.permutation))):
            raise ConfigError(
                f"PermuteChannels: permutation wants each of 0 to {len(self.permutation) - 1} once, received {self.permutation}"
            )

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        channels = part.shape[-1]
        if self.permutation is None:
            return {"order": rng.permutation(channels)}
        if len(self.permutation) != channels:
            raise DataError(
                f"PermuteChannels with permutation={self.permutation} wants {len(self.permutation)} channels, received "
                f"{channels}: write a number for each channel"
            )
        return {"order": np.array(self.permutation)}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return image.view(np.ndarray)[..., params["order"]]

    def apply_to_video(self, video: Video, params: Parameters) -> np.ndarray:
        return video.array[..., params["order"]]


@transform({"size": 8})
class ExtractPatches(Transform):
    """Cut pictures into patches: an array (rows, columns, height × width × channels of a patch).

    Patches of ``size`` (height, width) are ``stride`` pixels apart, by default side by side; ``rate`` is the distance of
    their pixels. "same" adds zeros for the patches that are cut off with "valid". Boxes, masks and key points stay those of
    the whole picture. Source: tf.image.extract_patches.
    """

    size: Size
    stride: Size | None = None
    rate: Size = 1
    padding: Literal["valid", "same"] = "valid"

    def apply_to(self, part: Any, params: Parameters) -> Any:
        if isinstance(part, Image):
            return self.apply_to_image(part, params)
        return np.stack([self.apply_to_image(f, params) for f in part.array]) if isinstance(part, Video) else part

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        pixels = image.view(np.ndarray)
        size, rate = pair(self.size), pair(self.rate)
        stride = size if self.stride is None else pair(self.stride)
        reach = [(length - 1) * step + 1 for length, step in zip(size, rate, strict=True)]
        if self.padding == "same":
            margins = []
            for length, window, step in zip(pixels.shape, reach, stride, strict=False):
                missing = max(0, (-(-length // step) - 1) * step + window - length)
                margins.append((missing // 2, missing - missing // 2))
            pixels = np.pad(pixels, [*margins, (0, 0)])
        if reach[0] > pixels.shape[0] or reach[1] > pixels.shape[1]:
            raise DataError(
                f"ExtractPatches wants a picture of at least {reach[0]} × {reach[1]} pixels, received "
                f'{image.shape[0]} × {image.shape[1]}: write padding="same" or a smaller size'
            )
        windows = np.lib.stride_tricks.sliding_window_view(pixels, reach, (0, 1))  # type: ignore[arg-type]
        chosen = windows[:: stride[0], :: stride[1], :, :: rate[0], :: rate[1]].transpose(0, 1, 3, 4, 2)
        return np.ascontiguousarray(chosen).reshape(*chosen.shape[:2], -1)

"""The EXIF orientation of pictures, and pictures turned upright."""

from __future__ import annotations

import io

import numpy as np

JPEG = b"\xff\xd8\xff"
_SCAN = 0xDA  # the JPEG marker before the compressed picture
_ORIENTATION = 0x0112  # the EXIF tag
# operations that bring a picture of an orientation 2 to 8 upright: (transposed, flipped top to bottom, left to right)
_UPRIGHT = {
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}


def read_orientation(data: bytes) -> int:
    """The EXIF orientation 1 to 8 of the bytes of a file; parsed only where they hold EXIF data."""
    if not (_has_exif(data) if data[:3] == JPEG else data[:4] in (b"II*\0", b"MM\0*", b"\x89PNG", b"RIFF")):
        return 1
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data)) as picture:
            value = picture.getexif().get(_ORIENTATION, 1)
    except Exception:  # damaged metadata of a picture that can be decoded
        return 1
    return value if value in _UPRIGHT else 1


def _has_exif(data: bytes) -> bool:
    """Whether one of the segments before the picture of a JPEG file holds EXIF data."""
    at = 2
    while at < 65536 and len(data) >= at + 10 and data[at] == 0xFF and data[at + 1] != _SCAN:
        if data[at + 4 : at + 8] == b"Exif":
            return True
        # a marker may be filled up with further bytes FF
        at += 1 if data[at + 1] == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False


def turn_upright(array: np.ndarray, orientation: int) -> np.ndarray:
    """A picture as stored, mirrored and turned as its orientation says."""
    if orientation not in _UPRIGHT:
        return array
    transposed, rows, columns = _UPRIGHT[orientation]
    array = array.swapaxes(0, 1) if transposed else array
    array = array[::-1] if rows else array
    return np.ascontiguousarray(array[:, ::-1] if columns else array)


def box_as_stored(
    box: tuple[int, int, int, int], canvas: tuple[int, int], orientation: int
) -> tuple[int, int, int, int]:
    """Where a rectangle (top, left, height, width) of the upright picture of the size ``canvas`` lies in the file."""
    if orientation not in _UPRIGHT:
        return box
    top, left, height, width = box
    transposed, rows, columns = _UPRIGHT[orientation]
    left = canvas[1] - left - width if columns else left
    top = canvas[0] - top - height if rows else top
    return (left, top, width, height) if transposed else (top, left, height, width)

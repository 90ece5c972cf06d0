"""Decoding of JPEG with libjpeg-turbo, of a whole picture or of the rows down to the end of a rectangle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from labdl.data.codecs.orientation import box_as_stored, read_orientation, turn_upright
from labdl.errors import DataError

Box = tuple[int, int, int, int]  # top, left, height, width

# frames whose pictures lie in one scan from top to bottom, with Huffman codes
_SEQUENTIAL = (0xC0, 0xC1)
_RESTART, _SCAN, _APPLICATION = 0xDD, 0xDA, 0xE1
_ROWS_LEFT_OUT = "extraneous bytes before marker 0xd9"  # the warning of libjpeg for them, before the end of the file


def check_pixels(width: int, height: int, most: int, name: str) -> None:
    """Raise DataError for a picture with more pixels than ``most``."""
    if width * height > most:
        raise DataError(f"{name} has {width:,} × {height:,} pixels, more than max_pixels={most:,}")


def decode_jpeg(
    data: bytes, mode: str, min_size: tuple[int, int] | None, fast: bool, max_pixels: int, name: str, upright: bool
) -> np.ndarray | None:
    """The whole picture, turned if ``upright``; None for colours that libjpeg-turbo cannot convert."""
    import simplejpeg

    height, width, colors, _ = simplejpeg.decode_jpeg_header(data)
    check_pixels(int(width), int(height), max_pixels, name)
    if colors in ("CMYK", "YCCK"):
        return None
    orientation = read_orientation(data) if upright else 1
    least = (0, 0) if min_size is None else min_size if orientation < 5 else min_size[::-1]
    array = simplejpeg.decode_jpeg(
        data,
        "RGB" if mode == "RGB" else "GRAY",
        fastdct=fast,
        fastupsample=fast,
        min_height=least[0],
        min_width=least[1],
        min_factor=2,  # libjpeg-turbo is slower at 5 / 8 and the like than at the whole size
    )
    return turn_upright(array, orientation)


def decode_jpeg_crop(
    data: bytes, header: Header, box: Box, mode: str, least: tuple[float, float] | None, fast: bool
) -> np.ndarray:
    """The pixels of a rectangle of the upright picture, whose colours are not those of CMYK.

    Rows below the rectangle are not decoded. ``least`` (height, width) allows a half, a quarter or an eighth of the size
    if the rectangle stays as large; then its edges are rounded to the reduced pixels. Raises ValueError for damaged data.
    """
    import simplejpeg

    height, width = header.height, header.width
    factor = next((k for k in (8, 4, 2) if least and box[2] >= k * least[0] and box[3] >= k * least[1]), 1)
    orientation = read_orientation(data) if header.exif else 1
    box = box_as_stored(box, (width, height) if orientation > 4 else (height, width), orientation)
    top, left = round(box[0] / factor), round(box[1] / factor)
    bottom, right = round((box[0] + box[2]) / factor), round((box[1] + box[3]) / factor)
    # smooth upsampling of the colours reads the next row, too
    data, rows = _leave_out_rows(data, header, (bottom + 1) * factor)
    pixels = np.empty((-(-rows // factor), -(-width // factor), 3 if mode == "RGB" else 1), np.uint8)
    try:
        simplejpeg.decode_jpeg(
            data,
            "RGB" if mode == "RGB" else "GRAY",
            fastdct=fast,
            fastupsample=fast,
            min_height=0 if factor == 1 else pixels.shape[0],
            min_width=0 if factor == 1 else pixels.shape[1],
            min_factor=2,
            buffer=pixels,
        )
    except ValueError as error:  # its text is the first warning: those of damaged rows come before
        if rows == height or not str(error).endswith(_ROWS_LEFT_OUT):
            raise
    return turn_upright(pixels[top:bottom, left:right], orientation)


def _leave_out_rows(data: bytes, header: Header, wanted: int) -> tuple[bytes, int]:
    """The file of a picture with fewer rows, and their number, at least those wanted: the decoder stops after them.

    The height in the header is replaced. Codes cannot be skipped, so rows above stay. Progressive files, whose scans all
    have each row, and those with restart markers stay as they are.
    """
    rows = -(-wanted // header.block) * header.block
    if rows >= header.height or not header.one_scan:
        return data, header.height
    return b"".join((data[: header.at], rows.to_bytes(2, "big"), data[header.at + 2 :])), rows


class Header(NamedTuple):
    """The frame of a JPEG file, from the segments before the picture."""

    height: int
    width: int
    components: int
    at: int  # of the height in the bytes
    block: int  # rows that are coded together
    one_scan: bool  # from top to bottom, without restart markers
    exif: bool  # whether there is EXIF data

    @classmethod
    def read(cls, data: bytes) -> Header | None:
        """The header of the bytes of a file, None if there is no frame before the picture."""
        at, frame, restarts, exif, length = 2, 0, False, False, len(data)
        while length >= at + 10 and data[at] == 0xFF:
            marker = data[at + 1]
            if marker == 0xFF:  # a marker may be filled up with further bytes FF
                at += 1
                continue
            if marker == _SCAN:
                break
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                if frame:
                    return None
                frame = at
            elif marker == _RESTART:
                restarts = data[at + 4 : at + 6] != b"\0\0"
            elif marker == _APPLICATION and data[at + 4 : at + 8] == b"Exif":
                exif = True
            at += 2 + (data[at + 2] << 8 | data[at + 3])
        else:
            return None
        if not frame:
            return None
        components = data[frame + 9]
        sampling = data[frame + 11 : frame + 10 + 3 * components : 3]
        one_scan = data[frame + 1] in _SEQUENTIAL and data[at + 4] == components and not restarts
        block = 8 * max((value & 15 for value in sampling), default=1)
        height, width = (int.from_bytes(data[frame + i : frame + i + 2], "big") for i in (5, 7))
        if not height or not width:
            return None
        return cls(height, width, components, frame + 5, block, one_scan and block > 0, exif)

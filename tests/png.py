"""Small PNGs: a screenshot has few colours, so 256 of them and good compression do."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from playwright.sync_api import Page

Pixels = npt.NDArray[np.uint8]

# The browser decodes its own picture; Python has no PNG reader of its own.
DECODE = """async (data) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height).data;
    let text = '';
    for (let i = 0; i < pixels.length; i += 8192) {
        text += String.fromCharCode(...pixels.subarray(i, i + 8192));
    }
    return [image.width, image.height, btoa(text)];
}"""


def shrink(page: Page, png: bytes) -> bytes:
    """The same picture with at most 256 colours, opaque, compressed as well as zlib can."""
    width, height, data = page.evaluate(DECODE, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)[:, :, :3]
    palette, indices = quantised(pixels)
    return encoded(palette, indices)


def quantised(pixels: Pixels) -> tuple[Pixels, Pixels]:
    """The 256 commonest colours, and for each pixel the nearest of them."""
    colours, inverse, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    palette = colours[np.argsort(-counts)[:256]]
    far = (colours[:, None, :].astype(np.int32) - palette[None, :, :]) ** 2
    nearest = far.sum(axis=2).argmin(axis=1).astype(np.uint8)
    return palette, nearest[inverse.reshape(-1)].reshape(pixels.shape[:2])


def encoded(palette: Pixels, indices: Pixels) -> bytes:
    """A PNG with a palette; rows are not filtered, which suits flat areas best."""
    height, width = indices.shape
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = indices
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", palette.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

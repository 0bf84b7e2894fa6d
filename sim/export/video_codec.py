"""Videos by PyAV: H.264 and AV1, VP9, lossless FFV1, ProRes.

Frames are converted to YUV here, with the matrix and tags of BT.709 in limited range: players take untagged files
for BT.601.  Source: ITU-R BT.709-6, BT.1886 transfer left as in sRGB.
"""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from sinew.sim.export.formats import ExportError, VideoCodec, VideoOptions
from sinew.sim.maths.arrays import Float32, UInt8

LUMA = np.array([0.2126, 0.7152, 0.0722])
BT709 = 1
"""Number of BT.709 as matrix, primaries and transfer."""

LIMITED = 1
"""Number of the limited range, 16 to 235."""

CODECS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "mp4": ("H.264", "libx264", "yuv420p", {"crf": "16", "preset": "veryfast", "threads": "1"}),
    "av1": ("AV1", "libsvtav1", "yuv420p", {"crf": "30", "preset": "10", "svtav1-params": "lp=1"}),
    "webm": (
        "VP9", "libvpx-vp9", "yuv420p",
        {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "crf": "20", "b": "0"},
    ),
    "mkv": ("FFV1", "ffv1", "bgr0", {}),
    "mov": ("ProRes 422 HQ", "prores_ks", "yuv422p10le", {"profile": "3"}),
}  # fmt: skip
"""Codecs: name, encoder, pixel format and options, by container or codec."""


class CodecVideo:
    """Video by PyAV, see `sinew.sim.export.video_file.Video`; repeats a row or column for odd sizes.

    Raises:
        ExportError: If the encoder is missing, or `alpha` is set.
    """

    def __init__(
        self, path: Path, size: tuple[int, int], rate: float, alpha: bool, options: VideoOptions | None = None
    ) -> None:
        if alpha:
            raise ExportError(f"{path}: videos keep no opacity; pictures do")
        os.environ.setdefault("SVT_LOG", "1")  # silences the AV1 encoder
        container = path.suffix[1:].lower()
        is_av1 = options is not None and options.codec is VideoCodec.AV1
        self.codec, codec, self._layout, codec_options = CODECS["av1" if is_av1 else container]
        self.is_exact, self.every, self.notes = self._layout == "bgr0", 1, list[str]()
        try:
            av.codec.Codec(codec, "w")
        except ValueError as error:
            raise ExportError(f"{path}: this installation of av has no encoder {codec}") from error
        self._file: Any = av.open(str(path), "w", format="matroska" if container == "mkv" else container)
        stream: Any = self._file.add_stream(codec, rate=Fraction(rate).limit_denominator(1001))
        self._stream = stream
        self._padding = ((0, size[1] % 2), (0, size[0] % 2)) if self._layout != "bgr0" else ((0, 0), (0, 0))
        stream.width, stream.height = size[0] + self._padding[1][1], size[1] + self._padding[0][1]
        stream.pix_fmt, stream.options = self._layout, codec_options
        stream.codec_context.thread_count = 1
        if self._layout != "bgr0":
            context = stream.codec_context
            context.colorspace = context.color_primaries = context.color_trc = BT709
            context.color_range = LIMITED

    def add(self, pixels: UInt8) -> None:
        padded = np.pad(pixels[..., :3], (*self._padding, (0, 0)), "edge")
        if self._layout == "bgr0":
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(padded), "rgb24").reformat(format="bgr0")
        else:
            frame = _yuv_frame(padded, self._layout)
        for packet in self._stream.encode(frame):
            self._file.mux(packet)

    def shown(self, pixels: UInt8) -> UInt8:
        return pixels

    def close(self) -> None:
        for packet in self._stream.encode():
            self._file.mux(packet)
        self._file.close()

    def abandon(self) -> None:
        self._file.close()


def read_video(path: Path) -> Iterator[tuple[float, UInt8]]:
    """Yields RGB frames, each with its end time [s]."""
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        length = 1.0 / float(stream.average_rate or 1.0)
        for number, frame in enumerate(file.decode(stream)):
            tags: dict[str, Any] = (
                {} if frame.format.name == "bgr0" else {"src_colorspace": "ITU709", "dst_color_range": "JPEG"}
            )
            shown: Any = frame.to_ndarray(format="rgb24", **tags)
            yield (number + 1) * length, shown


def _yuv_frame(pixels: UInt8, layout: str) -> Any:
    """Returns a BT.709 frame in limited range, from RGB of even size, (H, W, 3)."""
    deep, halved = layout.endswith("10le"), "420" in layout
    scale = 4.0 if deep else 1.0
    rgb = pixels.astype(np.float32) / 255.0
    luma = rgb @ LUMA.astype(np.float32)
    blue = (rgb[..., 2] - luma) / (2.0 * (1.0 - LUMA[2]))
    red = (rgb[..., 0] - luma) / (2.0 * (1.0 - LUMA[0]))

    def subsampled(plane: Float32) -> Float32:
        across: Float32 = (plane[:, 0::2] + plane[:, 1::2]) / 2.0
        return (across[0::2] + across[1::2]) / 2.0 if halved else across

    values = (16.0 + 219.0 * luma, 128.0 + 224.0 * subsampled(blue), 128.0 + 224.0 * subsampled(red))
    frame = av.VideoFrame(pixels.shape[1], pixels.shape[0], layout)
    for plane, shown in zip(frame.planes, values, strict=True):
        kind = np.dtype("<u2" if deep else "u1")
        rows = np.zeros((shown.shape[0], plane.line_size // kind.itemsize), kind)
        rows[:, : shown.shape[1]] = np.rint(shown * scale)
        plane.update(rows.tobytes())
    frame.colorspace = frame.color_primaries = frame.color_trc = BT709  # ProRes reads them from the frames
    frame.color_range = LIMITED
    return frame

"""What each output shows beside a certificate: the pixels of its image, and all words."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from support.commands import in_process
from support.pages import Page

import verale
from verale.certificate import Certificate

__all__ = ["OUTPUTS", "Displayed", "decoded", "displayed"]


@dataclass(frozen=True)
class Displayed:
    """What an output shows of one certificate.

    Attributes:
        text: all words.
        pixels: (H, W, 3) bytes of its image; None where none is shown.
        name: of the image's file, where the output says it.
    """

    text: str
    pixels: Any = None
    name: str | None = None


def displayed(output: str, folder: Path, number: int) -> Displayed:
    """What an output shows of the certificate of image number `number` in a run's folder."""
    with tempfile.TemporaryDirectory() as own:
        return OUTPUTS[output](folder, folder / f"{number:06d}.ale.json", number, Path(own) / f"report.{output}")


def _done(*arguments: object) -> str:
    done = in_process(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _report(source: Path, out: Path, *options: str) -> None:
    done = in_process("report", source, "-o", out, *options)  # whose exit code is that of the verdicts
    assert out.is_file(), done.stdout + done.stderr


def _html(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    _report(folder, out)
    page = Page(out.read_bytes())
    rows = page.rows
    row = rows["name"].index(file.name)
    about = [f"{name} {state}" for name, state in rows["claims"][row]]
    about += [
        rows["known"][row],
        rows["match"][row],
        rows["unproved"][row],
        f"{rows['status'][row]} {rows['scope'][row]}",
    ]
    shell = re.sub(r"<script.*?</script>|<[^>]*>", " ", page.text, flags=re.DOTALL)
    text = "\n".join([unescape(shell), *about, page.details[row]["claim"]])
    return Displayed(text, decoded(page.images[row]), Path(rows["image"][row]).name or None)


def _compared(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    _done("compare", folder, folder, "-o", out.with_suffix(".html"), "--all")
    html = out.with_suffix(".html").read_text()
    row = re.findall(r"<tr>(?:(?!</tr>).)*<th scope=\"row\" class=\"name\">.*?</tr>", html, re.DOTALL)[number]
    found = re.search(r'src="(data:[^"]*)"', row)
    return Displayed(unescape(re.sub(r"<[^>]*>", " ", html)), decoded(found[1] if found else ""))


def _show(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    text = in_process("show", file).stdout  # whose exit code is that of the verdict
    named = re.search(r"^image ([^(\s][^(:]*?)(?: \(|:|$)", text, re.MULTILINE)
    return Displayed(text, name=Path(named[1]).name if named else None)


def _csv(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    _report(folder, out)
    return _row(list(csv.DictReader(io.StringIO(out.read_text()))), file)


def _parquet(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    _report(folder, out)
    return _row(pq.read_table(out).to_pylist(), file)


def _row(rows: list[dict[str, Any]], file: Path) -> Displayed:
    (row,) = (row for row in rows if Path(row["certificate"]).name == file.name)
    text = "\n".join(f"{name}: {value}" for name, value in row.items())
    return Displayed(text, name=Path(row["image"]).name if row["image"] else None)


def _figure(*options: str) -> Any:
    def drawn(folder: Path, file: Path, number: int, out: Path) -> Displayed:
        with _drawing() as (images, texts):
            _report(file, out.with_suffix(".png"), *options)
        return Displayed(" ".join(" ".join(texts).split()), images[0] if images else None)

    return drawn


def _notebook(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    with _drawing() as (images, _):
        showing = verale.show(file)
    text = unescape(re.sub(r"<[^>]*>", "\n", showing._repr_html_()))
    assert ("<img" in showing._repr_html_()) == bool(images)
    return Displayed(f"{showing!r}\n{text}", images[0] if images else None)


def _plot(folder: Path, file: Path, number: int, out: Path) -> Displayed:
    """With the image that `source.json` names, given by the caller."""
    from verale.runs.source import load_source

    path = load_source(folder / "source.json").files[number]
    with _drawing() as (images, texts):
        verdict = verale.audit(
            file, folder / "head.safetensors", network=folder / "network.safetensors", pictures=folder / "pictures"
        )
        figure = verale.plot(Certificate.load(file), path, verdict=verdict)
        figure.savefig(io.BytesIO(), dpi=20)
    return Displayed(" ".join(" ".join(texts).split()), images[0] if images else None)


OUTPUTS = {
    "html": _html,
    "csv": _csv,
    "parquet": _parquet,
    "show": _show,
    "figure": _figure(),
    "compact": _figure("--compact"),
    "notebook": _notebook,
    "compare": _compared,
    "plot": _plot,
}


def decoded(uri: str) -> Any:
    """The pixels of a data URI, (H, W, 3) bytes; None of an empty one."""
    if not uri:
        return None
    assert uri.startswith("data:image/png;base64,"), "small ones are told exactly"
    data, at, kinds = b64decode(uri.partition(",")[2]), 8, set()
    while at < len(data):
        kinds.add(data[at + 4 : at + 8])
        at += 12 + int.from_bytes(data[at : at + 4], "big")
    assert kinds == {b"IHDR", b"IDAT", b"IEND"}, "nothing else by which a browser changes colours"
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


@contextmanager
def _drawing() -> Iterator[tuple[list[Any], list[str]]]:
    """The images and texts that matplotlib draws meanwhile."""
    images: list[Any] = []
    texts: list[str] = []
    shown, saved = Axes.imshow, Figure.savefig

    def imshow(self: Axes, image: Any, *rest: Any, **options: Any) -> Any:
        images.append(np.asarray(image))
        return shown(self, image, *rest, **options)

    def savefig(self: Figure, *rest: Any, **options: Any) -> Any:
        texts.extend(text.get_text() for text in self.findobj(Text))
        return saved(self, *rest, **options | {"dpi": 20})  # few pixels take less time

    with patch.object(Axes, "imshow", imshow), patch.object(Figure, "savefig", savefig):
        yield images, texts

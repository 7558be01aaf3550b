"""Draw figures/report.png: the first screen of one explanation, as a browser shows it.

`PYTHONPATH=tests python docs/figures/report.py FILE [--allow FOLDER]`, of a certificate's file, such as the first of
`make demo`. It needs the group `test` and a Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from support.tabs import Tabs, started_chromium

from verale.report.collect import collect
from verale.report.page import page
from verale.report.verdicts import audited

HERE = Path(__file__).parent
SIZE = {"width": 1280, "height": 900}


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--allow", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path, default=HERE / "report.png")
    given = parser.parse_args()
    collection = audited(collect(given.file, allow=given.allow))
    with tempfile.TemporaryDirectory() as folder, started_chromium() as chromium:
        path = Path(folder) / "report.html"
        path.write_bytes(page(collection, "Explanations of handwritten digits", provable=True))
        Tabs(chromium).open(path, viewport=SIZE, color_scheme="light").screenshot(path=given.out)


if __name__ == "__main__":
    main()

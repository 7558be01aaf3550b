"""Draw the figures of docs/theory.md: `python docs/figures/make.py`.

It computes the numbers (`computed.py`), writes them to `numbers.json`, and draws one SVG a figure from them. With one
version of matplotlib, the same numbers give the same bytes. It needs the group `test`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from computed import figures, save_latents
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge

HERE = Path(__file__).parent
Record = dict[str, Any]
BLUE, ORANGE, GREEN, INK, SOFT = "#0072B2", "#D55E00", "#009E73", "#222222", "#8C8C8C"
"""Okabe and Ito's colours, which can be told apart without red or green; shapes and dashes differ too."""
STYLE = {
    "svg.hashsalt": "verale",
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and enlarged
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",  # under the ink in dark mode too
    "savefig.facecolor": "white",
    "legend.frameon": False,
}


def stated(axis: Axes, numbers: Record, bounds: Sequence[Sequence[float]]) -> None:
    """Two prototypes, z, its mirror image, and where each statement allows a latent."""
    for centre, (low, high) in zip(numbers["points"], bounds, strict=False):
        if low == high:
            axis.add_patch(Circle(centre, low, fill=False, color=INK, linewidth=1.2))
        else:
            axis.add_patch(Wedge(centre, high, 0, 360, width=high - low, color=SOFT, alpha=0.45, linewidth=0))
    x, y = numbers["z"]
    (x_0, y_0), (x_1, y_1) = numbers["points"][:2]
    axis.plot([x_0, x_1], [y_0, y_1], "s", color=INK, markersize=6)
    axis.plot([x], [y], "o", color=GREEN, markersize=7)
    axis.plot([x], [-y], "o", color=GREEN, markersize=7, fillstyle="none")
    axis.text(x_0, y_0 - 0.2, "p₀", ha="center", va="top")
    axis.text(x_1, y_1 - 0.2, "p₁", ha="center", va="top")
    axis.set(aspect="equal", xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


def ball(numbers: Record) -> Figure:
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.6))
    for axis, shell in zip(axes, numbers["shells"], strict=True):
        stated(axis, numbers, numbers["stated"])
        for radius in (shell["low"], shell["high"]):
            axis.add_patch(Circle(shell["centre"], radius, fill=False, color=BLUE, linewidth=1.6))
        axis.plot(*shell["centre"], "x", color=BLUE, markersize=8, markeredgewidth=2)
        x, y = numbers["z"]
        axis.text(x, y + 0.25, "z", ha="center")
        axis.set(xlim=(-2.4, 7.0), ylim=(-3.3, 3.3), title=f"λ = ({1 - shell['t']:g}, {shell['t']:g})")
    handles = [
        plt.Line2D([], [], color=SOFT, alpha=0.45, linewidth=7, label="what is stated"),
        plt.Line2D([], [], color=BLUE, marker="x", linewidth=1.6, label="centre c and the shell about it"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=2)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.1, wspace=0.02)
    return figure


def exact(numbers: Record) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.6))
    titles = ("stated exactly", "stated with a tolerance")
    for axis, name, title in zip(axes, ("exact", "wide"), titles, strict=True):
        panel = numbers[name]
        stated(axis, numbers, panel["stated"])
        centre = numbers["points"][2]
        for rule, colour, dashes in (("triangle", ORANGE, (0, (5, 3))), ("projection", BLUE, "solid")):
            for distance in panel[rule]:
                axis.add_patch(Circle(centre, distance, fill=False, color=colour, linestyle=dashes, linewidth=1.6))
        axis.plot(*centre, "s", color=INK, markersize=6)
        axis.text(centre[0] + 0.15, centre[1] + 0.1, "target")
        x, y = numbers["z"]
        axis.text(x, y + 0.25, "z", ha="center")
        axis.text(x, -y - 0.45, "mirror image of z", ha="center")
        axis.set(xlim=(-2.6, 5.6), ylim=(-3.0, 4.3), title=title)
    handles = [
        plt.Line2D([], [], color=BLUE, linewidth=1.6, label="nearest and farthest by projection"),
        plt.Line2D([], [], color=ORANGE, linewidth=1.6, linestyle=(0, (5, 3)), label="by the triangle inequality"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=2)
    figure.subplots_adjust(left=0.02, right=0.98, top=0.92, bottom=0.1, wspace=0.04)
    return figure


def ranges(numbers: Record) -> Figure:
    figure, axis = plt.subplots(figsize=(8.6, 4.6))
    rules = (("triangle", ORANGE, "^", -0.25), ("hypersphere", SOFT, "s", 0.0), ("projection", BLUE, "o", 0.25))
    for rule, colour, marker, shift in rules:
        for position, (low, high) in enumerate(numbers[rule]):
            axis.plot(
                [position + shift] * 2, [low, high], marker=marker, color=colour, markersize=4.5, linewidth=1.6,
                label=rule if position == 0 else None,
            )  # fmt: skip
    axis.plot(range(len(numbers["truth"])), numbers["truth"], "_", color=INK, markersize=22, label="this image")
    axis.set(xlabel="prototype, of which nothing is stated", ylabel="distance of the patch", ylim=(0, None))
    axis.set_xticks(range(len(numbers["prototypes"])), numbers["prototypes"])
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=4)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.9, bottom=0.13)
    return figure


def simplex(numbers: Record) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6), width_ratios=(3, 2))
    for patch, prototype, mass in numbers["stated"]:
        left.bar(patch, mass, color=BLUE, width=0.6)
        left.text(patch, mass / 2, f"stated\n{mass:.4g}", ha="center", va="center", color="white")
        left.bar(patch, 1 - mass, bottom=mass, color="white", edgecolor=ORANGE, hatch="//", width=0.6)
        left.text(patch, 1.03, f"left {1 - mass:.4g}", ha="center")
        if prototype != 0:
            raise ValueError("the figure is drawn for statements about prototype 0")
    left.set(ylabel="mass of a patch", ylim=(0, 1.12), yticks=[0, 0.5, 1])
    left.set_xticks(range(len(numbers["stated"])), [f"patch {row[0]}" for row in numbers["stated"]])
    bounds = (("simplex", ORANGE), ("assignment", BLUE), ("image", GREEN))
    for position, (name, colour) in enumerate(bounds):
        right.barh(-position, numbers[name], color=colour, height=0.6)
        right.text(max(0, numbers[name]) + 0.015, -position, f"{numbers[name]:+.3f}", va="center")
    right.axvline(0, color=INK, linewidth=1)
    right.set(xlabel="margin over the rival, at least", xlim=(-0.15, 0.62), yticks=[0, -1, -2])
    right.set_yticklabels(["each remainder\nfor every prototype", "each remainder\nonce", "this image"])
    figure.subplots_adjust(left=0.08, right=0.98, top=0.96, bottom=0.15, wspace=0.55)
    return figure


def tolerance(numbers: Record) -> Figure:
    figure, axis = plt.subplots(figsize=(8.6, 4.0))
    positions = range(len(numbers["tolerances"]))
    for number, sizes in enumerate(zip(*numbers["sizes"], strict=True)):
        shown = [math.nan if size is None else size for size in sizes]
        axis.plot(
            positions, shown, "-o", color=BLUE, alpha=0.75, markersize=4, label="one image" if number == 0 else None
        )
    unexplained = [sum(size is None for size in sizes) for sizes in numbers["sizes"]]
    for position, count in zip(positions, unexplained, strict=True):
        if count:
            axis.text(position, axis.get_ylim()[1], f"{count} not\nexplained", ha="center", va="bottom", color=ORANGE)
    axis.set_xticks(positions, [f"{each:g}" for each in numbers["tolerances"]])
    axis.set(xlabel="tolerance", ylabel=f"statements, of {numbers['of']} there are", ylim=(0, None))
    figure.subplots_adjust(left=0.09, right=0.98, top=0.86, bottom=0.14)
    return figure


def minimal(numbers: Record) -> Figure:
    figure, axis = plt.subplots(figsize=(8.6, 3.6))
    for position, pair in enumerate(zip(numbers["rival"], numbers["nearest"], strict=True)):
        axis.plot([position, position], pair, color=SOFT, linewidth=1.6)
    positions = range(len(numbers["rival"]))
    axis.plot(positions, numbers["nearest"], "^", color=ORANGE, markersize=8, label="nearest prototypes first")
    axis.plot(positions, numbers["rival"], "o", color=BLUE, markersize=8, label="against the worst rival")
    axis.set_xticks(positions, [f"digit {position}" for position in positions])
    axis.set(ylabel="statements", ylim=(0, None))
    figure.legend(loc="upper center", ncols=2)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.88, bottom=0.1)
    return figure


DRAWN: dict[str, Callable[[Record], Figure]] = {
    "ball": ball,
    "exact": exact,
    "ranges": ranges,
    "simplex": simplex,
    "tolerance": tolerance,
    "minimal": minimal,
}


def draw(numbers: Record, out: Path) -> None:
    """Write one SVG a figure."""
    for name, figure_of in DRAWN.items():
        with plt.rc_context(STYLE):
            figure = figure_of(numbers[name])
            figure.savefig(out / f"{name}.svg", metadata={"Date": None, "Creator": None})
            plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the figures of docs/theory.md.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: this one)")
    parser.add_argument("--latents", action="store_true", help="compute the latents of the digits again")
    parser.add_argument("--numbers", type=Path, help="draw these numbers instead of computing them")
    arguments = parser.parse_args()
    if arguments.latents:
        save_latents()
    numbers = json.loads(arguments.numbers.read_text()) if arguments.numbers else figures()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    draw(numbers, arguments.out)


if __name__ == "__main__":
    main()

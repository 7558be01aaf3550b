"""Photographs of things on photographs of landscapes, from two Debian packages."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from PIL import Image

PACKAGES = {
    "tuxpaint-stamps-default": "usr/share/tuxpaint/stamps",
    "mate-backgrounds": "usr/share/backgrounds/mate/nature",
}
"""Debian's packages, and what is used of each."""

SIZE = 224
"""Pixels a side."""

CLASSES = {
    "bird": ("animals/birds",),
    "fish": ("animals/fish", "animals/mammals/aquatic"),
    "flower": ("plants/flowers",),
    "fruit": ("food/fruit",),
    "hoofed": ("animals/mammals/bovines", "animals/mammals/equines", "animals/mammals/deer", "animals/mammals/camel"),
    "insect": ("animals/insects",),
    "tool": ("household/tools", "household/dishes", "household/arttools"),
}
"""The folders of each class; cartoons and toys in folders of their own are left out."""

TEST_EVERY = 4
"""Every fourth stamp of a class, and every fourth landscape, is for test pictures alone."""


PHOTOGRAPH = "YellowFlower.jpg"
"""Of the landscapes, one that is in no training picture: proved from its pixels."""


class MissingError(Exception):
    """Something that is not there and cannot be fetched or made, and what to do."""


def fetched(folder: Path, fetch: Callable[[Path], None], remedy: str) -> Path:
    """The folder, filled by `fetch` unless it is there; nothing half done ever has its name. Raises MissingError."""
    if not folder.is_dir():
        unfinished = folder.with_name(folder.name + ".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir(parents=True)
            fetch(unfinished)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            last = (said.strip().splitlines() or ["no reason given"])[-1]
            raise MissingError(f"{folder} is missing and cannot be made ({last}): {remedy}") from error
        unfinished.rename(folder)
    return folder


def packages(work: Path) -> dict[str, Path]:
    """Folders of the packages' pictures, fetched with apt and unpacked without root. Raises MissingError."""

    def fetch(name: str) -> Callable[[Path], None]:
        def into(folder: Path) -> None:
            run("apt-get", "download", name, cwd=folder)
            (file,) = folder.glob("*.deb")
            run("dpkg-deb", "-x", file.name, ".", cwd=folder)
            file.unlink()

        return into

    return {
        name: fetched(
            work / name,
            fetch(name),
            f"it takes apt, its lists (`apt-get update`) and a network; or unpack the package yourself: "
            f"`dpkg-deb -x {name}_*.deb {work / name}`",
        )
        / within
        for name, within in PACKAGES.items()
    }


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a program that prints nothing. Raises OSError, CalledProcessError."""
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)


def photograph(landscapes: Path, work: Path) -> Path:
    """A folder with the photograph alone. Raises MissingError."""

    def into(folder: Path) -> None:
        shutil.copy(landscapes / PHOTOGRAPH, folder)

    return fetched(work / "photograph", into, f"{landscapes} has no {PHOTOGRAPH}: take another version of the package")


def split(files: Iterable[Path], test: bool) -> list[Path]:
    """Those for training, or those for test pictures."""
    return [file for at, file in enumerate(sorted(files)) if (at % TEST_EVERY == TEST_EVERY - 1) == test]


def stamps_of(folder: Path, within: Iterable[str]) -> list[Path]:
    """The photographs of a class."""
    return [file for each in within for file in (folder / each).glob("*.png")]


def compose(stamp: Image.Image, landscape: Image.Image, chance: random.Random) -> Image.Image:
    """A stamp somewhere on a part of a landscape: at half to nine tenths of the picture's side, perhaps mirrored."""
    side = round(min(landscape.size) * chance.uniform(0.4, 1))
    left, top = (chance.randrange(length - side + 1) for length in landscape.size)
    picture = landscape.resize((SIZE, SIZE), Image.Resampling.BICUBIC, (left, top, left + side, top + side))
    thing = stamp.convert("RGBA")
    thing = thing.crop(thing.getchannel("A").getbbox())
    if chance.random() < 0.5:
        thing = thing.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    scale = SIZE * chance.uniform(0.5, 0.9) / max(thing.size)
    width, height = (max(1, round(length * scale)) for length in thing.size)
    thing = thing.resize((width, height), Image.Resampling.LANCZOS)
    picture.paste(thing, (chance.randrange(SIZE - width + 1), chance.randrange(SIZE - height + 1)), thing)
    return picture


def write(work: Path, stamps: Path, landscapes: Path, counts: Mapping[str, int]) -> Path:
    """Write `work/pictures/{train,test}/CLASS/NNNN.png`, the same pictures each time.

    Args:
        work: the folder for everything that is made.
        stamps, landscapes: folders of the packages.
        counts: pictures a class, of `train` and `test`.

    No stamp and no landscape is in both. Raises MissingError: a class without a stamp, or no landscape.
    """

    def into(folder: Path) -> None:
        for part, count in counts.items():
            views = [Image.open(file).convert("RGB") for file in split(landscapes.glob("*.jpg"), part == "test")]
            for name, within in CLASSES.items():
                files = split(stamps_of(stamps, within), part == "test")
                if not files or not views:
                    raise OSError(f"no stamp of {name} in {stamps}, or no landscape in {landscapes}")
                (folder / part / name).mkdir(parents=True)
                for number in range(count):
                    chance = random.Random(f"{part} {name} {number}")
                    with Image.open(files[number % len(files)]) as stamp:
                        picture = compose(stamp, chance.choice(views), chance)
                    picture.save(folder / part / name / f"{number:04d}.png")

    return fetched(work / "pictures", into, "remove the folders of the packages, which are fetched again")

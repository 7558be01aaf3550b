"""From photographs to pages that a person reads, in one command.

    python examples/photographs/run.py

fetches two Debian packages of free pictures and two Python packages with a trained backbone, trains a ProtoPNet for
seven classes on its features, explains test pictures that it has never seen, audits the certificates and writes
`build/explained/report.html`. Then a photograph that nobody here took is explained for all that the network can give
for it, and proved from its pixels, with the training patches that its prototypes are: `build/proved/report.html`.
What is there already is used again; to begin anew, remove the folder `build`.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from network import CHANNELS, EPSILON, MEAN, STD, Photographs, backbone, features, tensor, train
from pictures import CLASSES, SIZE, MissingError, packages, photograph, write
from PIL import Image
from torch import Tensor, nn

import verale

COUNTS = {"train": 80, "test": 20}
"""Pictures a class."""

STEPS = 200
"""Of each of training's two parts."""

EXPLAINED = 5
"""Test pictures of each class that are explained."""

PROTOTYPES = 2
"""Of so many prototypes, those that the photograph's explanation names first, it is proved which patches they are."""

AROUND = 1
"""Patches on each side that the picture of a prototype shows beside its own."""


@dataclass(frozen=True)
class Trained:
    """A network and what it was trained and is tested on.

    Attributes:
        model: the network.
        files: of `train` and `test`.
        labels: of the same.
        origins: (P, 2): of each prototype the picture of `train` and the patch.
        side: patches a side of a picture.
    """

    model: Photographs
    files: Mapping[str, list[Path]]
    labels: Mapping[str, Tensor]
    origins: Tensor
    side: int


def timed(what: str, started: float) -> None:
    """Print what was done, and the processor time since it began."""
    print(f"{what}: {time.process_time() - started:.0f} s of processor time", flush=True)


def trained(work: Path, pictures: Path, network: nn.Module, channels: int) -> Trained:
    """The network trained on the pictures' features; both are kept in `work` for another run."""
    files = {part: [file for name in CLASSES for file in sorted((pictures / part / name).iterdir())] for part in COUNTS}
    order = list(CLASSES).index
    labels = {part: torch.tensor([order(file.parent.name) for file in files[part]]) for part in COUNTS}
    kept, began = work / "features.safetensors", time.process_time()
    if not kept.is_file():
        save(kept, {part: features(network, files[part]) for part in COUNTS})
    of = safetensors.torch.load_file(kept)
    timed(f"features of {sum(map(len, files.values()))} pictures", began)

    torch.manual_seed(0)
    model, kept, began = Photographs(network, channels, len(CLASSES)), work / "trained.safetensors", time.process_time()
    if not kept.is_file():
        origins = train(model, of["train"], labels["train"], STEPS)
        parts = {name: value for name, value in model.state_dict().items() if not name.startswith("backbone.")}
        save(kept, {**parts, "origins": origins})
    parts = safetensors.torch.load_file(kept)
    origins = parts.pop("origins")
    model.load_state_dict({**model.state_dict(), **parts})
    with torch.inference_mode():
        predicted = model.logits(model.add_on(of["test"])).argmax(1)
    right = float((predicted == labels["test"]).float().mean())
    timed(f"training, {100 * right:.0f} % of {len(predicted)} test pictures are rightly classified", began)
    return Trained(model.eval(), files, labels, origins, of["train"].shape[-1])


def save(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a file that is there as a whole, or not at all."""
    unfinished = path.with_suffix(".part")
    safetensors.torch.save_file({name: value.contiguous() for name, value in tensors.items()}, unfinished)
    unfinished.rename(path)


def prototype_pictures(given: Trained, folder: Path) -> None:
    """Write each prototype's patch, and the patches around it, as `folder/0000.png` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    side, step = given.side, SIZE // given.side
    for number, (index, patch) in enumerate(given.origins.tolist()):
        row, column = divmod(patch, side)
        box = ((column - AROUND) * step, (row - AROUND) * step, (column + AROUND + 1) * step, (row + AROUND + 1) * step)
        inside = tuple(min(max(end, 0), SIZE) for end in box)
        with Image.open(given.files["train"][index]) as picture:
            picture.crop(inside).save(folder / f"{number:04d}.png")


def explain(given: Trained, each: int, out: Path) -> verale.Head:
    """Explain the first test pictures of each class, and print what became of them; the network's head."""
    model, labels = given.model, given.labels["test"]
    head = verale.Head(
        model.weight.detach(), verale.Cosine(EPSILON), verale.Identity(), prototypes=model.prototypes.detach()
    )
    chosen = [at for label in range(len(CLASSES)) for at in (labels == label).nonzero()[:each, 0].tolist()]
    explained = verale.explain_model(
        model,
        "add_on",
        [given.files["test"][at] for at in chosen],
        head=head,
        preprocess=tensor,
        labels=labels[chosen].tolist(),
        class_names=list(CLASSES),
        prototype_images=[given.files["train"][index] for index in given.origins[:, 0].tolist()],
        out=out,
        jobs=1,
    )
    print(explained)
    return head


def freeze(given: Trained, head: verale.Head, out: Path) -> None:
    """Write the network from the picture to the latents as a file, compared with the module on a test picture."""
    mean, std = [MEAN / 255] * 3, [STD / 255] * 3
    network = verale.export_network(given.model, "add_on", (3, SIZE, SIZE), mean, std)
    with Image.open(given.files["test"][0]) as picture:
        print(verale.check(head, given.model, "add_on", tensor(picture)[None], network=network))
    network.save(out)


def command(*words: str | Path) -> int:
    """Print and run a command of verale, and the processor time that it took; its exit code."""
    print("$ verale", *words, flush=True)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run([sys.executable, "-m", "verale", *map(str, words)], check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime:.1f} s of processor time", flush=True)
    return code


def shown(work: Path, given: Trained, each: int) -> int:
    """Explain, audit and report; the exit code of the first command that fails, else 0."""
    out, pictures, began = work / "explained", work / "prototypes", time.process_time()
    prototype_pictures(given, pictures)
    head = explain(given, each, out)
    timed("explanations", began)
    if not (work / "network.safetensors").is_file():
        began = time.process_time()
        freeze(given, head, work / "network.safetensors")
        timed("the network as a file", began)
    allowed = ("--prototype-pictures", pictures, "--allow", work / "pictures", "--overwrite")
    return command("audit", out) or command("summary", out) or command("report", out, *allowed)


def proved(work: Path, given: Trained) -> int:
    """Explain the photograph from its pixels, prove that and the origins, and write a page; the exit code."""
    out, kernel = work / "proved", ("--kernel", "arb")
    files = ("--head", work / "explained" / "head.safetensors", "--network", work / "network.safetensors")
    if not list(out.glob("*.ale.json")):
        images = ("--images", work / "photograph", "--resize", str(SIZE), "--out", out)
        code = command("explain", *files, *images) or command("audit", out, *kernel)
        if code:
            return code
    named = [getattr(each, "prototype", None) for each in verale.Certificate.load(out / "000000.ale.json").statements]
    chosen = list(dict.fromkeys(each for each in named if each is not None))[:PROTOTYPES]
    training, origins = work / "origins", work / "origins.json"
    training.mkdir(exist_ok=True)
    for index in given.origins[chosen, 0].tolist():
        file = given.files["train"][index]
        shutil.copy(file, training / f"{file.parent.name}-{file.name}")
    if not origins.is_file() and (code := command("origins", *files, "--images", training, "--out", origins)):
        return code
    told = ("--origins", origins, "--origin-images", training)
    return command("report", out, *told, *kernel, "--overwrite")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "build", help="the folder of all files")
    work, began = parser.parse_args(words).work.resolve(), time.process_time()
    try:
        stamps, landscapes = packages(work).values()
        pictures = write(work, stamps, landscapes, COUNTS)
        network = backbone(work)
    except MissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    timed("pictures", began)
    given = trained(work, pictures, network, CHANNELS)
    photograph(landscapes, work)
    return shown(work, given, EXPLAINED) or proved(work, given)


if __name__ == "__main__":
    sys.exit(main())

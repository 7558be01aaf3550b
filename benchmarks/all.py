"""Every page of `benchmarks/results`, made again from one commit; which of them are old; and what each was made by.

    python -m benchmarks.all --data DATA                          # says which pages are old, and runs nothing
    python -m benchmarks.all --data DATA --make                   # makes the old ones again, one after the other
    python -m benchmarks.all --data DATA --make --only proved.md,audits.md

A page is old if what it measures, the package or the proved checker, has changed since the commit that it names, or if
it does not name a commit of this history. So a run that was interrupted goes on where it was: pages that are of this
tree are not made again. Each is written beside the others only when its command has ended well, and its last line names
commit, date and command. `results/README.md` is the list of all.

Commands that need what is not given (`--runs`, `--cifar10`, `--pictures`, `--configs`, `--code`, `--tool`) or a GPU are
left out, and the list says so. The tree has to be committed: a page names one commit.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.environment import ROOT

__all__ = ["PAGES", "Page", "main", "state"]

MEASURED = ("verale", "proofs/rocq/extracted", "proofs/rocq/front")
TRAINED = "protopnet,gaussian,tesnet,protopool,pipnet"
SYNTHETIC = "cub-protopnet,cub-cosine,cub-pipnet"
_MADE = re.compile(r"^Made from commit ([0-9a-f]{7,40}), ", re.MULTILINE)
_NAMED = re.compile(r"commit:? ([0-9a-f]{7,40})(, with uncommitted changes)?")


@dataclass(frozen=True)
class Page:
    """A page of `benchmarks/results`, or a folder with the page `table.md`.

    Attributes:
        name: of the file, or of the folder, which ends with a slash.
        command: after `python -m`, with {data}, {runs}, {cifar10}, {pictures}, {configs}, {code} and {tool} for what is
            given, {out} for the file or folder to write, and {stem} for its name without suffix; a command without both
            prints the page.
    """

    name: str
    command: str

    def path(self, results: Path) -> Path:
        return results / self.name / "table.md" if self.name.endswith("/") else results / self.name

    def needs(self) -> list[str]:
        """The names of what has to be given; of these `cuda` is a GPU."""
        return [each for each in re.findall(r"{(\w+)}", self.command) if each not in ("out", "stem")]

    def arguments(self, out: Path, given: dict[str, str]) -> list[str]:
        """Those of Python."""
        return ["-m", *(each.format(out=out, stem=out.with_suffix(""), **given) for each in self.command.split(" "))]


PAGES = (
    Page(
        "proved.md",
        f"benchmarks.proved --data {{data}} --heads demo,{TRAINED},{SYNTHETIC} --images 3 --kernels "
        "arb,proved --command --out {out}",
    ),
    Page(
        "audits.md",
        f"benchmarks.proved --data {{data}} --heads {TRAINED},{SYNTHETIC} --images 4 --repeat 2 --kernels "
        "arb,proved --out {out}",
    ),
    Page("photographs.md", "benchmarks.audits {explained} --parent {parent} --out {out}"),
    Page("sizes.md", "benchmarks.sizes --data {data} --out {out}"),
    Page("freedom.md", "benchmarks.freedom --data {data} --out {out}"),
    Page("freedom-cifar100.md", f"benchmarks.freedom --data {{data}} --heads {TRAINED} --images 4 --out {{out}}"),
    Page(
        "digits.md",
        "benchmarks.sizes --data {data} --heads digits --paradigms "
        "projection,triangle,hypersphere,top_k,mixed,readable --digits fewest,exact --out {out}",
    ),
    Page(
        "devices.md",
        "benchmarks.devices --data {data} --heads protopnet,pipnet,cub-protopnet --count --paradigms "
        "evidence,assignment,sparse,readable,projection --images 8 --out {out}",
    ),
    Page("engine.md", "benchmarks.engine --head demo --images 200"),
    Page("interrupted.md", "benchmarks.interrupted --images 10000 --stops int,kill --out {out}"),
    Page("report.md", "benchmarks.report --against f16520fa --out {out}"),
    Page("rules.md", "benchmarks.rules --data {data}/published --out {out}"),
    Page(
        "mnist.md",
        "benchmarks.mnist --data {data}/published --paradigms projection,top_k,triangle,hypersphere --out {out}",
    ),
    Page(
        "whole-mnist.md",
        "benchmarks.whole --mnist {data}/published --paradigm hypersphere --jobs 2 --scaling 10000 "
        "--rounds 1 --out {out}",
    ),
    Page("demands-of-pictures.md", "benchmarks.demands_of_pictures"),
    Page("agreement.md", "benchmarks.agreement --mutants-one-in 4 --emitted 10000 --out {out}"),
    Page("emitted.md", "benchmarks.emitted --count 100000 --jobs 2 --out {stem}"),
    Page("cifar100/", f"benchmarks.run --data {{data}} --heads {TRAINED} --images 4 --out {{out}}"),
    Page(
        "papers/",
        "benchmarks.run --data {data} --heads pipnet,protopnet --paradigms "
        "projection,assignment,evidence,top_k,sparse --images 2 --time-limit 20 --out {out}",
    ),
    Page(
        "cub/",
        f"benchmarks.run --heads {SYNTHETIC} --paradigms top_k,projection,simplex,assignment --images 2 "
        "--time-limit 60 --out {out}",
    ),
    Page("cifar10.md", "benchmarks.tables {runs} --out {out}"),
    Page(
        "cub-tables.md",
        "benchmarks.tables --heads cub-protopnet,cub-gaussian,cub-protopool,cub-pipnet,cub-cosine --count 2 "
        "--budget 30 --methods projection,triangle/nearest,hypersphere/nearest,assignment,simplex,simplex/nearest,"
        "sparse,top_k,top_k/highest --out {out}",
    ),
    Page("pictures.md", "benchmarks.pictures page --state {pictures} --out {out}"),
    Page(
        "whole-cifar10.md",
        "benchmarks.whole --checkpoint-dir {runs}/protopnet/final --images {cifar10}/test --jobs 2 --out {out}",
    ),
    Page(
        "deployment.md",
        "benchmarks.deployment --runs {runs} --data {cifar10} --heads {data} --images 4 --paradigms "
        "projection,triangle,top_k,assignment,sparse --out {out}",
    ),
    Page("published.md", "benchmarks.published --configs {configs} --out {out}"),
    Page("authors.md", "benchmarks.authors --code {code} --data {data} --images 1 --limit 20 --out {out}"),
    Page(
        "authors-in-order.md",
        "benchmarks.authors --code {code} --data {data} --heads cub-protopnet-40:0+4 --limit 20 --out {out}",
    ),
    Page("marabou.md", "benchmarks.marabou --tool {tool} --out {out}"),
)
"""In the order in which they are made. `against.md` compares two commits."""


def git(*arguments: str) -> str:
    """What git says; empty if it fails."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return run.stdout.strip() if run.returncode == 0 else ""


def state(path: Path, head: str = "HEAD") -> str:
    """Why a page is old; empty if it is of this tree.

    Args:
        path: the page.
        head: the commit to compare with.
    """
    if not path.is_file():
        return "it was never made"
    text = path.read_text(encoding="utf-8")
    made = _MADE.search(text) or _NAMED.search(text)
    if made is None:
        return "it names no commit"
    commit = made[1]
    if len(made.groups()) > 1 and made[2]:
        return f"{commit} had uncommitted changes"
    whole = git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if not whole or git("merge-base", whole, head) != whole:
        return f"{commit} is no commit of this history"
    changes = git("rev-list", "--count", f"{commit}..{head}", "--", *MEASURED)
    return "" if changes == "0" else f"{changes} commits since {commit} changed what it measures"


def made(page: Page, given: dict[str, str], results: Path) -> int:
    """Run the command of a page, and keep what it writes if it ends well; its exit code.

    Nothing of an earlier page changes until then.
    """
    commit, began = git("rev-parse", "HEAD"), datetime.datetime.now(datetime.UTC)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=results) as folder:
        out = Path(folder) / page.name.rstrip("/")
        run = subprocess.run(
            [sys.executable, *page.arguments(out, given)], cwd=ROOT, stdout=subprocess.PIPE, check=False, text=True
        )
        if run.returncode != 0:
            return run.returncode
        written = page.path(Path(folder))
        if not written.exists():
            written.write_text(f"# {page.name}\n\n{run.stdout}", encoding="utf-8")
        command = shlex.join(["python", *page.arguments(Path("OUT"), given)])
        with written.open("a", encoding="utf-8") as file:
            file.write(f"\nMade from commit {commit}, {began:%Y-%m-%d %H:%M} UTC, by `{command}`.\n")
        for each in Path(folder).iterdir():
            if each.suffix in (".jsonl", ".kept"):  # what an interrupted command would go on from
                continue
            if each.is_dir():
                shutil.rmtree(results / each.name, ignore_errors=True)
            shutil.move(each, results / each.name)
    return 0


def listed(results: Path, missing: dict[str, list[str]]) -> Iterator[str]:
    """The lines of `results/README.md`."""
    yield "# Results\n"
    yield "`python -m benchmarks.all` writes this list and makes the pages. One is old if what it measures has changed."
    yield ""
    yield "| page | of this tree | made by |"
    yield "|---|---|---|"
    for page in PAGES:
        path = page.path(results)
        old = state(path) or "yes"
        needs = f" (needs {', '.join(missing[page.name])})" if missing.get(page.name) else ""
        link = f"[{page.name}]({path.relative_to(results)})" if path.is_file() else page.name
        yield f"| {link} | {old if old == 'yes' else 'no: ' + old} | `python -m {page.command}`{needs} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="trained heads and latents")
    parser.add_argument("--runs", help="folder of the models of benchmarks.cifar10")
    parser.add_argument("--cifar10", help="CIFAR-10, a folder with test/CLASS/*.jpg")
    parser.add_argument("--pictures", help="the STATE of benchmarks.pictures, measured already")
    parser.add_argument("--configs", help="the folder configs of beyond_l2")
    parser.add_argument("--code", help="a clone of beyond_l2, whose code is run")
    parser.add_argument("--tool", help="the program Marabou")
    parser.add_argument("--make", action="store_true", help="make the old pages again; without it they are listed")
    parser.add_argument("--only", help="only these pages, comma separated; they are made even if they are not old")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="the folder of the pages")
    options = parser.parse_args()
    given = {
        name: str(Path(value).resolve())
        for name in ("data", "runs", "cifar10", "pictures", "configs", "code", "tool")
        if (value := getattr(options, name))
    }
    given |= {"cuda": "cuda"} if torch.cuda.is_available() else {}
    missing = {page.name: [each for each in page.needs() if each not in given] for page in PAGES}
    chosen = None if options.only is None else options.only.split(",")
    if unknown := [each for each in chosen or () if each not in missing]:
        parser.error(f"--only: there is no page {', '.join(unknown)}; expected some of {', '.join(missing)}")
    if options.make and git("status", "--porcelain", "--", *MEASURED, "benchmarks/*.py"):
        parser.error(
            "--make: the tree has uncommitted changes, and a page names the commit that it is of; commit them first"
        )
    options.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for page in PAGES:
        old = state(page.path(options.out))
        print(f"{page.name}: {old or 'of this tree'}", flush=True)
        if not options.make or (page.name not in chosen if chosen is not None else not old):
            continue
        if missing[page.name]:
            print(f"  left out: it needs {', '.join(missing[page.name])}", flush=True)
        elif code := made(page, given, options.out):
            print(f"  failed with exit code {code}; the page is what it was", flush=True)
            failed.append(page.name)
    (options.out / "README.md").write_text("\n".join([*listed(options.out, missing), ""]), encoding="utf-8")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

"""docs/words.md: one word for one thing, in templates, messages, the help of commands and the pages for people."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

from verale.certificate.words import percent
from verale.cli import cli

ROOT = Path(__file__).parents[2]
WORDS = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
FOR_PEOPLE = (
    "README.md",
    *(f"docs/{name}.md" for name in ("tutorial", "report", "contrast", "rules", "faq", "ai-act", "auditing")),
    *(f"examples/{name}/README.md" for name in ("digits", "photographs")),
)
"""The pages that take a reader through verale. Reference keeps the words of its field."""
ROOMS = ("cli", "report", "demo")
"""The rooms of verale whose sentences people read; the texts of `runs` name fields of files, too."""


def table(text: str) -> dict[str, tuple[str, ...]]:
    """What is not said, by the word that is said instead."""
    rows = re.findall(r"^\| (\*\*.+?) \| .+? \| ?(.*?) ?\|$", text, re.MULTILINE)
    return {word.replace("*", ""): tuple(filter(None, words.split(", "))) for word, words in rows}


def forbidden() -> re.Pattern[str]:
    words = [word for several in table(WORDS).values() for word in several]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})s?\b", re.IGNORECASE)


def prose(page: str) -> str:
    """A page without code, without what commands print, and without where links lead."""
    text = re.sub(r"^ *```.*?^ *```$", "", page, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)


def seen(template: str) -> str:
    """What a template shows: without tags, comments, code and expressions."""
    return re.sub(r"<!--.*?-->|{[{%#].*?[}%#]}|<code>.*?</code>|<[^>]+>", " ", template, flags=re.DOTALL)


def texts_of_script(script: str) -> str:
    """The texts of a script that are sentences, or the words of a heading."""
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', script)
    return "\n".join(text for text in found if re.search(r"^[A-Z]\w+$| ", text))


def messages(source: str) -> Iterator[str]:
    """The texts of a module that are sentences, without docstrings."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented]
    for node in texts:
        if isinstance(node.value, str) and re.search(r"^[A-Z][a-z]+$| ", node.value):
            yield node.value.replace("margin >= ", "")  # the field, as a verdict line has it


def helps(command: click.Command) -> Iterator[str]:
    yield f"{command.help or ''} {command.short_help or ''}"
    for parameter in command.params:
        yield getattr(parameter, "help", None) or ""
    for one in getattr(command, "commands", {}).values():
        yield from helps(one)


def shown() -> Iterator[tuple[str, str]]:
    """Each text that people read, with where it is."""
    for page in FOR_PEOPLE:
        yield page, prose((ROOT / page).read_text(encoding="utf-8"))
    files = ROOT / "verale" / "report" / "page_files"
    for path in sorted(files.glob("*.html")):
        yield path.name, seen(path.read_text(encoding="utf-8"))
    for path in sorted(files.glob("*.js")):
        yield path.name, texts_of_script(path.read_text(encoding="utf-8"))
    for room in ROOMS:
        for path in sorted((ROOT / "verale" / room).rglob("*.py")):
            for text in messages(path.read_text(encoding="utf-8")):
                yield str(path.relative_to(ROOT)), text
    for text in helps(cli):
        yield "the help of a command", text


def test_one_word_for_one_thing() -> None:
    unsaid = forbidden()
    wrong = [
        (where, found[0], text[max(0, found.start() - 60) : found.end() + 40].replace("\n", " "))
        for where, text in shown()
        for found in unsaid.finditer(text)
    ]
    assert wrong == [], "docs/words.md has the words to be used instead"


def test_no_word_is_both_said_and_not() -> None:
    words = table(WORDS)
    assert len(words) > 25 and len(set(re.findall(r"^\| \*\*", WORDS, re.MULTILINE))) == 1
    assert not {word for several in words.values() for word in several} & set(words)
    assert len(re.findall(r"^\| \*\*", WORDS, re.MULTILINE)) == len(words)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (prose, "The backbone gives latents.\n"),
        (seen, '<p class="x">All margins</p>'),
        (texts_of_script, 'el("h3", {}, "The lead (margins)")'),
        (lambda source: "\n".join(messages(source)), 'raise E(f"the {name} has no rival")\n'),
    ],
)
def test_another_word_is_noticed(reader: Callable[[str], str], text: str) -> None:
    assert forbidden().search(reader(text))


def test_what_is_no_sentence_does_not_count() -> None:
    assert not forbidden().search(prose("```\nmargin >= 1\n```\nthe field `margin`, [a](b.md#margin)\n"))
    assert not forbidden().search(seen("{{ one.margin }}<code>margin</code>"))
    assert not forbidden().search(texts_of_script('rows["margin"] + certificate.margins'))
    assert not forbidden().search("\n".join(messages('"""The margin."""\nx = {"margin": 1}\n')))


def shares(source: str) -> list[str]:
    """The texts of a module that write a number and a per cent sign."""
    texts = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)]
    return [
        ast.unparse(text)
        for text in texts
        for number, after in pairwise(text.values)
        if isinstance(number, ast.FormattedValue) and isinstance(after, ast.Constant) and after.value.startswith(" %")
    ]


def test_one_function_writes_shares_so_all_are_rounded_alike() -> None:
    places = [path.name for path in sorted((ROOT / "verale").rglob("*.py")) if shares(path.read_text(encoding="utf-8"))]
    assert places == ["words.py"] and percent(999, 1000) == "99.9 %" and percent(56_666, 100_000) == "56.6 %"
    assert shares('print(f"{100 * share:.1f} %")') and not shares('f"{number}%nat"')

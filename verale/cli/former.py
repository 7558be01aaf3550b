"""Names that commands and options had before: whoever writes one is told the new one."""

from __future__ import annotations

__all__ = ["FORMER", "FORMER_VALUES", "now"]

_WRITERS = ("compare", "export rocq", "head compare", "head import", "latents", "network export", "report")

FORMER: dict[tuple[str, str], str] = {
    ("", "export-vnnlib"): "verale export vnnlib",
    ("", "theorem"): "verale export rocq",
    **{(command, "--output"): "--out" for command in _WRITERS},
    ("audit", "--pictures"): "--images",
    ("audit", "--report"): "--log",
    ("audit", "--workers"): "--jobs",
    ("explain", "--cost"): "--costs",
    ("explain", "--gap"): "verale gap FOLDER",
    ("explain", "--pictures"): "--images",
    ("explain", "--workers"): "--jobs",
    ("export rocq", "--no-instance"): "--entailment-only",
    **{(command, "--pictures"): "--prototype-pictures" for command in ("attribute", "latents", "report", "rules")},
    ("report", "--check"): "--provable",
    ("report", "--compare"): "--same-as",
    ("report", "--verdicts"): "--log",
}
"""By the command, "" for verale itself, and by what was written: what to write."""

FORMER_VALUES: dict[tuple[str, str], str] = {("--paradigm", "smallest"): "readable"}
"""By the option and the value that was written: the value to write."""


def now(path: str, name: str) -> str | None:
    """What a name is called now; None if it is unknown.

    Args:
        path: the command, as in `verale head import`.
        name: a command's, or an option's.
    """
    return FORMER.get((path.removeprefix("verale").strip(), name))

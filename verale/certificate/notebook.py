"""A certificate in notebooks, which ask the object itself for its HTML.

What shows certificates to people reads them as the checker does, and stands on the other side of the wall. So it is
looked up by its name in the package when a notebook asks, and nothing that explains depends on it.
"""

from __future__ import annotations

from html import escape
from importlib import import_module

from verale.errors import VeraleError

__all__ = ["html"]


def html(certificate: object) -> str:
    """What `verale.show` shows of a certificate alone; of one that the checker cannot read, why it cannot."""
    try:
        shown: str = import_module("verale").show(certificate)._repr_html_()
    except VeraleError as error:
        return f"<div><p>{escape(str(certificate))}</p><p>{escape(str(error))}</p></div>"
    return shown

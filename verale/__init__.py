"""verale: abductive latent explanations of prototype networks, certified and re-proved by an independent checker.

A head is everything after the latent map, as plain data. An explanation is a set of statements about an image's latents
that entails the predicted class; a certificate is an explanation with what is needed to prove it again.

    head = verale.adapters.head_of("protopnet", model.state_dict())     # or verale.Head(...), verale.Head.load(path)
    latents = verale.adapters.capture(model, "add_on_layers", images)   # (N, D, H, W)
    for result in verale.explain(head, latents):                        # a Certificate or an Unexplained, an image
        print(result)
        if result.size is not None:
            print(verale.audit(result, head, latents).status)

Explain and check:
    explain         certificates for images
    audit           a certificate proved again, by the independent checker
    refute          a search for latents that a certificate is wrong about
    necessity       which statements are needed under any paradigm
    contrast        what lets another class win
    show            a certificate in words, with its numbers and a verdict; in notebooks with its image
    plot            a picture of a certificate
From a module to a folder:
    explain_model   head, latents, certificates and their images, from a module
    export_network  a module from the picture to the latents, as a file that needs no torch
    check           whether a head computes a network's own logits
Files:
    frame           the table of a run, as a pandas frame
    load_latents, save_latents, Head.load, Head.save, Certificate.load, Certificate.save
Results and errors:
    Certificate, Unexplained, Verdict, VeraleError
Heads:
    Head            weight, prototypes, bias and the parts that follow
    geometry        Euclidean, Cosine, InnerProduct, Softmax; Box is the domain of latents
    similarity      LogRatio, Negated, ExpDistance, Exponential, Quadratic, Identity, Rectified, Threshold, StepChain
    pooling         MaxPooling, TopMeanPooling, FocalPooling, BankPooling, MaskedMaxPooling
    readout         Linear, Maximum, SoftTree
    merge_slots     weights on prototypes from ProtoPool's weights on slots

`help(verale.explain)` says what a function takes and gives. Names are imported when they are used, so that `import
verale.checker` loads nothing but the checker.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verale.adapters.freezing import export_network
    from verale.certificate import Certificate
    from verale.checker import Verdict
    from verale.errors import VeraleError
    from verale.head import (
        BankPooling,
        Box,
        Cosine,
        Euclidean,
        ExpDistance,
        Exponential,
        FocalPooling,
        Head,
        Identity,
        InnerProduct,
        Linear,
        LogRatio,
        MaskedMaxPooling,
        Maximum,
        MaxPooling,
        Negated,
        Quadratic,
        Rectified,
        Softmax,
        SoftTree,
        StepChain,
        Threshold,
        TopMeanPooling,
        load_latents,
        merge_slots,
        save_latents,
    )
    from verale.report.picture import plot
    from verale.report.single import show
    from verale.runs.audit import audit
    from verale.runs.check import check
    from verale.runs.contrast import contrast
    from verale.runs.explain_model import explain_model
    from verale.runs.necessity import necessity
    from verale.runs.refute import refute
    from verale.runs.table import frame
    from verale.search import Unexplained
    from verale.search.explain import explain
    from verale.version import __version__

__all__ = [
    "BankPooling",
    "Box",
    "Certificate",
    "Cosine",
    "Euclidean",
    "ExpDistance",
    "Exponential",
    "FocalPooling",
    "Head",
    "Identity",
    "InnerProduct",
    "Linear",
    "LogRatio",
    "MaskedMaxPooling",
    "MaxPooling",
    "Maximum",
    "Negated",
    "Quadratic",
    "Rectified",
    "SoftTree",
    "Softmax",
    "StepChain",
    "Threshold",
    "TopMeanPooling",
    "Unexplained",
    "VeraleError",
    "Verdict",
    "__version__",
    "audit",
    "check",
    "contrast",
    "explain",
    "explain_model",
    "export_network",
    "frame",
    "load_latents",
    "merge_slots",
    "necessity",
    "plot",
    "refute",
    "save_latents",
    "show",
]

_HOME = dict.fromkeys(__all__, "verale.head") | {
    "Certificate": "verale.certificate",
    "Unexplained": "verale.search",
    "VeraleError": "verale.errors",
    "Verdict": "verale.checker",
    "__version__": "verale.version",
    "audit": "verale.runs.audit",
    "check": "verale.runs.check",
    "contrast": "verale.runs.contrast",
    "explain": "verale.search.explain",
    "explain_model": "verale.runs.explain_model",
    "export_network": "verale.adapters.freezing",
    "frame": "verale.runs.table",
    "necessity": "verale.runs.necessity",
    "plot": "verale.report.picture",
    "refute": "verale.runs.refute",
    "show": "verale.report.single",
}
"""Where each name is: most are parts of heads."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'verale' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # help(verale) prints the documentation of all that inspect.getmembers gives and __all__ names: thousands of lines
    # after the page above. `import *` needs __all__, so inspect does not get these names.
    if sys._getframe(1).f_globals.get("__name__") == "inspect":
        return sorted({*globals()} - {*__all__, "__dir__", "__getattr__"})
    return sorted({*globals(), *__all__})

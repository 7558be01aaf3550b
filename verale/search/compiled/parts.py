"""Parts: functions that only machine code calls.

numba alone would make each part whole: with all that it calls linked in, optimised, turned into machine code, and with
a wrapper that unpacks its arguments from Python's objects. A part that stands five calls below an entry was optimised
five times and more, and of the 84 s that the search took to compile, more than half went there. Here a part is
translated once into LLVM's language and left as it is; an entry links all that it needs, and is optimised once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from verale.search.compiled.settings import import_numba

numba = import_numba()

from numba.core import codegen, compiler, config, event, registry, sigutils  # noqa: E402

__all__ = ["OPTIONS", "Compiler", "Remembering", "part"]

_NOT_NEEDED = {
    "with_lifting",
    "inline_closure_likes",
    "Rewrite dynamic raises",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "inline_overloads",
    "nopython_rewrites",
    "annotate_types",
    "dump_parfor_diagnostics",
}

_HASH = hash(compiler.Flags())

_SPEED = 2
"""How much LLVM optimises, as of its options -O0 to -O3."""

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = {"nopython": True, "error_model": "numpy", "nogil": True, "_nrt": False}
"""Without `fastmath`, so that the same numbers come out on every processor. Without numba's runtime, which would count
references to each array of each tuple wherever one is named: so no machine code makes or returns an array."""


def part(function: F) -> F:
    """A function that entries call, and other parts."""
    made: Any = function if config.DISABLE_JIT else CompiledPart(function)
    return cast(F, made)


class CompiledPart(registry.CPUDispatcher):
    """A function that numba finds in other functions, and translates for the types with which they call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, targetoptions=dict(OPTIONS), pipeline_class=_Translation)

    def __call__(self, *arguments: Any) -> Any:
        """Called from Python, as tests do, it is Python, and so are the parts that it calls."""
        return self.py_func(*arguments)

    def compile(self, sig: Any) -> Any:
        types = tuple(
            numba.core.types.unliteral(each) for each in sigutils.normalize_signature(sig)[0]
        )  # not once for each number
        if types not in self.overloads:
            with event.trigger_event("numba:compile", data={"dispatcher": self, "args": types, "return_type": None}):
                translated = self._compiler.compile(types, None)
            name = object()  # what calls ask for, instead of a function of Python's
            self.overloads[types] = translated._replace(entry_point=name)
            self.targetctx.insert_user_function(name, translated.fndesc, translated.library.with_all_it_needs())
        return self.overloads[types].entry_point


class Compiler(compiler.Compiler):
    """numba's, without steps that these functions do not need: they have no closures, no exceptions of their own, no
    expressions of whole arrays."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, returned: Any, flags: Any, local: Any
    ) -> None:
        if library is None:
            library = _Optimised(target.codegen(), "entry")
            library.enable_object_caching()
        super().__init__(_remembering(typing), target, library, args, returned, _Flags(flags), local)

    def define_pipelines(self) -> list[Any]:
        pipelines: list[Any] = super().define_pipelines()
        for each in pipelines:
            each.passes = [step for step in each.passes if step[0]._name not in _NOT_NEEDED]
            each.finalize()
        return pipelines


class _Translation(Compiler):
    """From Python to LLVM's language, without wrappers."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, returned: Any, flags: Any, local: Any
    ) -> None:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(typing, target, _Translated(target.codegen(), "part"), args, returned, flags, local)


class Remembering:
    """numba's typing of calls, which remembers what builtin functions give for arguments of some types.

    numba tries what it knows of a function one after the other, and writes a message about each that does not fit: of
    an element of an array eighteen, each time that one is read. All that took a sixth of the time.
    """

    def __init__(self, typing: Any) -> None:
        self._typing = typing
        self._known: dict[Any, tuple[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._typing, name)

    def resolve_function_type(self, function: Any, arguments: Any, named: Any) -> Any:
        """The signature. What lowers it is kept by the very object that stands for the function."""
        types = numba.core.types
        known = function if isinstance(function, types.Type) else self._typing._lookup_global(function)
        if named or not isinstance(known, types.Function):
            return self._typing.resolve_function_type(function, arguments, named)
        key = id(known), arguments
        if key not in self._known:
            self._known[key] = self._typing.resolve_function_type(known, arguments, named), known
        return self._known[key][0]

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """The signature of an assignment to an element."""
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


_remembering = cache(Remembering)


class _Flags(compiler.Flags):
    """numba's options of a function, compared as they are given. numba looks them up for each operation that it types,
    and computed them all for it, which took a sixth of the time."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Flags):
            return bool(self._values == other._values)
        return bool(super().__eq__(other))

    def __hash__(self) -> int:
        return _HASH


class _Optimised(codegen.JITCodeLibrary):
    """What an entry became."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Later, with all that is linked in."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Once; numba would do it once more before, for references, which are not counted here. Loops become vectors.
        They are not written down several times in a row: that made the search no faster, and took 3 s of 19."""
        options = codegen.ll.create_pipeline_tuning_options(_SPEED)
        options.loop_vectorization, options.loop_interleaving, options.loop_unrolling = True, False, False
        builder = codegen.ll.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class _Translated(codegen.JITCodeLibrary):
    """What a part became. It is linked into entries, and is nothing by itself."""

    def with_all_it_needs(self) -> list[Any]:
        """This and, each once, what it calls."""
        found: dict[Any, None] = {self: None}
        for library in self._linking_libraries:
            found |= dict.fromkeys(library.with_all_it_needs() if isinstance(library, _Translated) else [library])
        return list(found)

    def finalize(self) -> None:
        self._finalized = True

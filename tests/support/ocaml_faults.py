"""Faults in the OCaml that is trusted: reader, claims, numbers, answers and the program. The tests of `TESTS` detect each.
Whatever the hinter hands out, nothing false is proved: the theorems hold for all hints.

    PYTHONPATH=tests python -m support.ocaml_faults [WORD...]

tries all, or those with a word in their names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from support.syntax import replaced

ROOT = Path(__file__).parents[2]
FRONT = ROOT / "proofs" / "rocq" / "front"
_AGREEMENT = "tests/soundness/test_agreement.py"
_PROGRAM = "tests/end_to_end/test_proved_kernel.py"
_MINIMALITY = "tests/soundness/test_proved_minimality.py"
_PICTURES = "tests/soundness/test_proved_pictures.py"
_NUMBERS = "tests/unit/checker/proved/test_numbers.py"
TESTS = {
    "reader.ml": ("tests/unit/checker/proved/test_reader.py", _MINIMALITY, _PROGRAM, _AGREEMENT),
    "network_reader.ml": ("tests/unit/checker/proved/test_reader.py", _PICTURES),
    "claims.ml": (_MINIMALITY, _PICTURES, _NUMBERS, _AGREEMENT, _PROGRAM),
    "numbers.ml": (_NUMBERS,),
    "writer.ml": (_NUMBERS,),
    "answers.ml": (_MINIMALITY, _PICTURES, _NUMBERS, _AGREEMENT, _PROGRAM),
    "main.ml": (_PROGRAM,),
}
"""The tests that have to detect the faults of a file."""
_SECONDS = 900

_TRUSTED: dict[str, list[tuple[str, str, str]]] = {
    "reader.ml": [
        ("a minus is left out", "let sign = if text <> \"\" && text.[0] = '-' then 1 else 0 in", "let text = if text <> \"\" && text.[0] = '-' then String.sub text 1 (String.length text - 1) else text in\n  let sign = 0 in"),
        ("numbers are decimal where they can be", "Z.of_string_base 16 text", "(try Z.of_string_base 10 text with _ -> Z.of_string_base 16 text)"),
        ("a short number may begin with 0", "when digits = 1 || (digits > 1 && Bytes.get chunk at <> '0')", "when digits >= 1"),
        ("of a number the first part is lost", "if first = 0 then Z.of_int last", "if first >= 0 then Z.of_int last"),
        ("the first part has a digit too much", "(last lsr 24)", "(last lsr 20)"),
        ("a line that ends with a number goes on", "if byte = '\\n' then input.ended <- true;\n          Some", "Some"),
        ("any digits", "if not (canonical && digits <= 1024 && all_digits sign)", "if not (canonical && digits <= 1024)"),
        ("zeros may lead", "if not (canonical && digits <= 1024 && all_digits sign)", "if not (digits >= 1 && digits <= 1024 && all_digits sign)"),
        ("a unit may be 0", "if Z.sign number <= 0 then wrong", "if Z.sign number < 0 then wrong"),
        ("an index may be at its limit", "if number >= limit then wrong", "if number > limit then wrong"),
        ("an index need not be below its limit", "if number >= limit then wrong", "if false then wrong"),
        ("lists are reversed", "if left = 0 then List.rev made", "if left = 0 then made"),
        ("lists may have any length", "if not (List.mem (List.length found) lengths) then", "if false then"),
        ("the line may go on", "let line_end input = if not input.ended then", "let line_end input = if false then"),
        ("fractions are turned over", "{ Checker.numerator; denominator }", "{ Checker.numerator = denominator; denominator = numerator }"),
        ("a rooted cosine is a cosine", "Checker.RootedCosine (fraction input)", "Checker.Cosine (fraction input)"),
        ("there is no radius", "Checker.InnerProduct (option fraction input)", "(ignore (option fraction input); Checker.InnerProduct None)"),
        ("rectified is the identity", '"rectified" -> Checker.Rectified', '"rectified" -> Checker.Identity'),
        ("all look at all", "Checker.MaskedMax (list_of [ count ] mask_row input)", "(ignore (list_of [ count ] mask_row input); Checker.MaxPool)"),
        ("a mask may have any rows", "Checker.MaskedMax (list_of [ count ] mask_row input)", "Checker.MaskedMax (any_list mask_row input)"),
        ("the subtrees are swapped", "Checker.SoftTree (absent, present)", "Checker.SoftTree (present, absent)"),
        ("the largest is the sum", '"maximum" -> Checker.Maximum', '"maximum" -> Checker.Linear'),
        ("the domain's ends are swapped", "let lower = option integer input in\n  let upper = option integer input in", "let upper = option integer input in\n  let lower = option integer input in"),
        ("the domain has no lower end", "let lower = option integer input in", "let lower = ignore (option integer input); None in"),
        ("weights have the coordinates' unit", "coord_unit; prototypes; lower; upper; weight_unit;", "coord_unit; prototypes; lower; upper; weight_unit = coord_unit;"),
        ("scales are peaks", "scale_unit; scales; peak_unit; peaks }", "scale_unit; scales = peaks; peak_unit; peaks = scales }"),
        ("there is no bias", "weight; bias; scale_unit", "weight; bias = List.map (fun _ -> Z.zero) bias; scale_unit"),
        ("another class is predicted", "{ Checker.predicted; patches;", "{ Checker.predicted = (predicted + 1) mod head.classes; patches;"),
        ("patches are one less", "{ Checker.predicted; patches;", "{ Checker.predicted; patches = patches - 1;"),
        ("a patch's ends are swapped", "Checker.AboutPatch (l, j, low, high)", "Checker.AboutPatch (l, j, high, low)"),
        ("a patch is another one", "Checker.AboutPatch (l, j, low, high)", "Checker.AboutPatch ((l + 1) mod patches, j, low, high)"),
        ("a statement says that there is a point", "Checker.AboutPatch (l, j, low, high)", "Checker.AboutPatch (l, j, low, low)"),
        ("an activation is at its lower end", "Checker.AboutActivation (j, low, high)", "Checker.AboutActivation (j, low, low)"),
        ("an end that is missing is 0", '"none" -> None | text -> Some (integer_of text)', '"none" -> Some Z.zero | text -> Some (integer_of text)'),
        ("the clause is about all", "Checker.AboutOthers (except, low, high)", "(ignore except; Checker.AboutOthers ([], low, high))"),
        ("a ceiling is a floor", "Checker.AboutOthers (except, low, high)", "Checker.AboutOthers (except, high, low)"),
        ("a sum is about all rivals", "Checker.AboutSum (rivals, high)", "(ignore rivals; Checker.AboutSum (None, high))"),
        ("a sum is half", "Checker.AboutSum (rivals, high)", "Checker.AboutSum (rivals, Z.div high (Z.of_int 2))"),
        ("a sum is about no rival", "Checker.AboutSum (rivals, high)", "(ignore rivals; Checker.AboutSum (Some [], high))"),
        ("margins have the statements' unit", "statements; margin_unit; margins }", "statements; margin_unit = statement_unit; margins }"),
        ("margins are 0", "statements; margin_unit; margins }", "statements; margin_unit; margins = List.map (fun _ -> Z.zero) margins }"),
        ("a mask may look nowhere", "&& List.exists (is 1) row)", ")"),
        ("a tree may be a circle", "require (child < 0 || child > node)", "require (child < 0 || child >= 0 || node > 0)"),
        ("a tree may be in parts", "require (Array.for_all Fun.id seen)", "require (Array.exists Fun.id seen)"),
        ("scales may be 0", "Z.sign scale > 0) scales)", "Z.sign scale >= 0) scales)"),
        ("counts may be 0", 'require (number > 0) "a number from 1";', ""),
        ("softmax may have any depth", "require (head_geometry <> Checker.Softmax || d = p)", "require (head_geometry <> Checker.Softmax || d > 0)"),
        ("prices are nothing", '"prices" -> Checker.Prices', '"prices" -> Checker.Nothing'),
        ("joint is nothing", '"joint" -> Checker.JointMargin', '"joint" -> Checker.Nothing'),
        ("another word is nothing", '| other -> wrong "nothing, prices or joint" other', "| _ -> Checker.Nothing"),
        ("statements count from 1", 'index "a statement" (List.length certificate.statements) input', 'index "a statement" (List.length certificate.statements + 1) input'),
        ("an image's unit is 1", "{ Checker.image_unit = Z.shift_left Z.one (-least);", "{ Checker.image_unit = Z.one;"),
        ("an image has no signs", "(if top >= 0x800 then Z.neg odd else odd)", "odd"),
        ("a small number has a leading 1", "if exponent = 0 then first else", "if false then first else"),
        ("an infinity is a number", "if exponent = 0x7ff then", "if false then"),
        ("the last digits are lost", "(Z.shift_left (Z.of_int leading) 28) (Z.of_int last)", "(Z.shift_left (Z.of_int leading) 28) Z.zero"),
        ("exponents are one less", "max exponent 1 - 1075", "max exponent 1 - 1076"),
        ("the smallest numbers are halved", "max exponent 1 - 1075", "exponent - 1075"),
        ("the next line is of this image", "    require_more input;\n    let made", "    let made"),
        ("a patch may go on", '| _ -> raise (Wrong "expected fewer digits")', "| _ -> ()"),
    ],
    "network_reader.ml": [
        ("a layer may be of any size", "if Z.gt found (Z.of_int most_entries) then raise", "if false then raise"),
        ("pairs may be 0", "require (min first second >= least)", "require (max first second >= least)"),
        ("pairs may be of any size", "if max first second > most_of_pair then raise", "if false then raise"),
        ("rows and columns are swapped", "  (first, second)\n", "  (second, first)\n"),
        ("stride and padding are swapped", "{ Checker.kernel; stride; padding; dilation }", "{ Checker.kernel; stride = padding; padding = stride; dilation }"),
        ("windows may be too large", "require (room >= 0)", "require (room >= min_int)"),
        ("a padding counts once", "size + (2 * padding) -", "size + padding -"),
        ("an extent is one less", "(room / of_pair w.stride) + 1", "(room / of_pair w.stride)"),
        ("there may be no weights", 'require (weights <> []) "a row of weights";', ""),
        ("there are no biases", "(unit, weights, biases)\n\nlet conv2d", "(unit, weights, List.map (fun _ -> Z.zero) biases)\n\nlet conv2d"),
        ("groups need not divide the channels", "require (channels mod groups = 0)", "require (channels mod groups >= 0)"),
        ("groups need not divide the rows", "require (outputs mod groups = 0)", "require (outputs mod groups >= 0)"),
        ("there is one group", "Checker.Conv2d (w, groups, unit", "Checker.Conv2d (w, 1, unit"),
        ("a linear layer reads the first column", "require (height = 1 && width = 1)", "require (height + width > 0)"),
        ("a pooling may be dilated", "require (w.dilation = (1, 1))", "require (w.dilation >= (1, 1))"),
        ("a pooling may be padded with anything", "require (fits fst && fits snd)", "require (fits fst || fits snd)"),
        ("a slope may be above 1", "Z.sign slope.numerator >= 0 && Z.leq slope.numerator slope.denominator", "Z.sign slope.numerator >= 0"),
        ("a slope may be negative", "Z.sign slope.numerator >= 0 && Z.leq slope.numerator slope.denominator", "Z.leq slope.numerator slope.denominator"),
        ("the ends of a clamp are swapped", "Checker.Clamp (least, most)", "Checker.Clamp (most, least)"),
        ("a clamp may be upside down", "require (compare_fractions least most <= 0)", "require (compare_fractions least most <= 1)"),
        ("fractions are compared by numerators", "Z.compare (Z.mul a.numerator b.denominator) (Z.mul b.numerator a.denominator)", "Z.compare a.numerator b.numerator"),
        ("a product repeats anything", "require (fits channels c && fits height h && fits width w)", "require (fits channels c || fits height h && fits width w)"),
        ("a product is a sum", "(Checker.Multiply, multiplied shape other)", "(Checker.Add, multiplied shape other)"),
        ("an inverse root is a sigmoid", "(Checker.InverseRoot, shape)", "(Checker.Sigmoid, shape)"),
        ("sums are of any shapes", "require (List.for_all (( = ) first) shapes)", "require (List.exists (( = ) first) shapes)"),
        ("joined are any shapes", "h = height && w = width) shapes)", "h = height || w = width) shapes)"),
        ("a sum is of one", '"add", _ :: _ :: _', '"add", _ :: _'),
        ("a sigmoid is a tanh", '"sigmoid", [ shape ] -> (Checker.Sigmoid', '"sigmoid", [ shape ] -> (Checker.Tanh'),
        ("a mean is a maximum", "(Checker.AvgPool2d w, shape)", "(Checker.MaxPool2d w, shape)"),
        ("a flattened layer keeps its rows", "(product [ channels; height; width ], 1, 1)", "(ignore (product [ channels; height; width ]); (channels, height, width))"),
        ("upsampling swaps rows and columns", "product [ height; down ], product [ width; along ]", "product [ height; along ], product [ width; down ]"),
        ("a std may be 0", "Z.sign each.numerator > 0) deviations", "Z.sign each.numerator >= 0) deviations"),
        ("mean and std are swapped", "means; deviations; layers }", "means = deviations; deviations = means; layers }"),
        ("a layer reads itself", 'index "a layer before this one" number', 'index "a layer before this one" (number + 1)'),
        ("there may be any number of layers", "if count > most_layers then raise", "if false then raise"),
        ("layers are reversed", "if number > count then List.rev made", "if number > count then made"),
        ("bytes have one digit", "digits 2 0 input", "digits 1 0 input"),
    ],
    "claims.ml": [
        ("the box of one picture is every picture's", "Some (n, p, known) when n == network && p = picture -> known", "Some (_, _, known) -> known"),
        ("nothing is asked", "Checker.unproved (prepared_for here settings certificate) certificate hints with", "(ignore (Checker.unproved (prepared_for here settings certificate) certificate hints); Some []) with"),
        ("a margin that is left is proved", "| Some rivals -> Error rivals", "| Some _ -> Ok (settings, hints)"),
        ("what is not proved is proved", "if claim () then Proved else Not_proved", "if claim () then Proved else Proved"),
        ("an instance is entailed", "(fun () -> about_image here Checker.instance_proved certificate image", "(fun () -> about_image here Checker.refutation_proved certificate image"),
        ("what is refuted is an instance", "about_image here Checker.refutation_proved certificate image", "about_image here Checker.instance_proved certificate image"),
        ("some finer enclosure does not refuse", "(fun settings -> claim here.head settings certificate image) (image_settings", "(fun _ -> true) (image_settings"),
        ("what was prepared serves other settings", "match List.assoc_opt settings here.latest with", "match Option.map snd (List.nth_opt here.latest 0) with"),
        ("an entailment of no margins", "Checker.unproved (prepared_for here settings certificate) certificate hints with", "Checker.unproved (prepared_for here settings certificate) { certificate with margins = List.map (fun _ -> Z.zero) certificate.margins } hints with"),
        ("an entailment of a subset", "Checker.unproved (prepared_for here settings certificate) certificate hints with", "Checker.unproved (prepared_for here settings certificate) { certificate with statements = List.map (function Checker.AboutPatch (l, j, a, _) -> Checker.AboutPatch (l, j, a, a) | s -> s) certificate.statements } hints with"),
        ("an instance of no statements", "claim here.head settings certificate image)", "claim here.head settings { certificate with Checker.statements = [] } image)"),
        ("an instance of its first patch", "claim here.head settings certificate image)", "claim here.head settings { certificate with Checker.patches = 1 } { image with Checker.rows = [ List.hd image.Checker.rows ] })"),
        ("a picture of no statements", "Checker.complies_over here.head certificate settings", "Checker.complies_over here.head { certificate with Checker.statements = [] } settings"),
        ("any picture will do", "Checker.complies_over here.head certificate settings unit ends\n", "ignore (Checker.complies_over here.head certificate settings unit ends); true\n"),
        ("a box is over another unit", "Option.map (fun ends -> { unit; ends }) latents", "Option.map (fun ends -> { unit = Z.shift_left unit 1; ends }) latents"),
        ("what is needed is anything", "let needed = List.exists (by index) attempts in", "let needed = List.exists (by index) attempts || true in"),
        ("no prices are looked at", "Checker.needed_of (prepared_for here settings certificate) what hints certificate)", "ignore what; Checker.needed_of (prepared_for here settings certificate) Checker.Nothing hints certificate)"),
        ("one statement is needed", "(List.init (List.length certificate.statements) Fun.id)", "(ignore certificate.statements; [ 0 ])"),
        ("some statement is needed", "List.for_all needed indices)", "List.exists needed indices)"),
        ("what was needed of another certificate is", "when asked = (what, certificate) -> needed", "when fst asked = what -> needed"),
        ("another statement is needed", "all_needed here what certificate [ index ]", "(ignore index; all_needed here what certificate [ 0 ])"),
        ("pairs may be of no patch", "List.filter (fun (patch, prototype) -> patch >= 0 && prototype >= 0) found", "found"),
        ("points may have any unit", "if Z.sign points.point_unit > 0 && List.for_all natural points.chosen then points", "if List.for_all natural points.chosen || true then points"),
        ("a point may have any unit", "((if Z.sign unit > 0 then unit else Z.one), point)", "(unit, point)"),
        ("every head is covered", "Some \"a soft tree whose activations are not shown to lie in [0, 1]\"", "None"),
        ("numbers of narrower statements", "Checker.proved_bounds (prepared_for here settings certificate) certificate hints", "Checker.proved_bounds (prepared_for here settings certificate) { certificate with Checker.statement_unit = Z.shift_left certificate.Checker.statement_unit 1 } hints"),
        ("numbers of one patch", "Checker.proved_bounds (prepared_for here settings certificate) certificate hints", "Checker.proved_bounds (prepared_for here settings certificate) { certificate with Checker.patches = 1 } hints"),
        ("the domain is that of the statements", "let nothing = { certificate with statements = [] } in", "let nothing = certificate in"),
        ("the values lead another class", "Checker.image_values here.head settings certificate.predicted image", "Checker.image_values here.head settings 0 image"),
        ("the values are those of the first patch", "Checker.image_values here.head settings certificate.predicted image", "Checker.image_values here.head settings certificate.predicted { image with Checker.rows = [ List.hd image.Checker.rows ] }"),
        ("numbers are told where there are none", "Option.value ~default:Not_proved (Option.bind", "Option.value ~default:Proved (Option.bind"),
        ("the domain is that of other patches", "| Some (known, ends) when known = about -> Some ends", "| Some (known, ends) when fst known = fst about -> Some ends"),
        ("what was found for other margins serves", "match List.assoc_opt about here.searched with", "match Option.map snd (List.find_opt (fun ((known, _), _) -> known.Checker.statements = certificate.Checker.statements) here.searched) with"),
        ("what was found for other statements serves", "match List.assoc_opt about here.searched with", "match Option.map snd (List.nth_opt here.searched 0) with"),
    ],
    "numbers.ml": [
        ("ends are swapped", "let ends = two integer integer", "let ends out (low, high) = two integer integer out (high, low)"),
        ("of a range the ends are swapped", "let range = two number number", "let range out (low, high) = two number number out (high, low)"),
        ("leads are over the unit of boxes alone", "over (Z.mul settings.box_unit weight_unit)", "over (ignore weight_unit; settings.box_unit)"),
        ("activations are over twice their unit", "let activations = over settings.box_unit", "let activations = over (Z.shift_left settings.box_unit 1)"),
        ("similarities are over twice their unit", "let similarities = over settings.box_unit", "let similarities = over (Z.shift_left settings.box_unit 1)"),
        ("latents are over twice their unit", "text (over unit (list (list ends)))", "text (over (Z.shift_left unit 1) (list (list ends)))"),
    ],
    "writer.ml": [
        ("integers lose their sign", 'Z.format "%x" number', 'Z.format "%x" (Z.abs number)'),
        ("lists are reversed", "(fun each -> space out; item out each) items", "(fun each -> space out; item out each) (List.rev items)"),
    ],
    "answers.ml": [
        ("proved and not are swapped", 'Claims.Proved -> "proved"\n  | Claims.Not_proved -> "not proved"', 'Claims.Proved -> "not proved"\n  | Claims.Not_proved -> "proved"'),
        ("what is not covered is proved", '"not covered: " ^ why', '(ignore why; "proved")'),
        ("what is not proved is proved", 'Claims.Not_proved -> "not proved"', 'Claims.Not_proved -> "proved"'),
        ("refuted means instance", "about_image here Claims.refuted input", "about_image here Claims.instance input"),
        ("instance means refuted", "about_image here Claims.instance input", "about_image here Claims.refuted input"),
        ("instance is taken on trust", "said told (claim told.prepared certificate image)", 'ignore (claim told.prepared certificate image); "proved"'),
        ("the head may change", '"head", None -> (Some (read_head input), "ready")', '"head", _ -> (Some (read_head input), "ready")'),
        ("a picture is taken on trust", "said told (Claims.pictured told.prepared network certificate picture)", 'ignore (Claims.pictured told.prepared network certificate picture); "proved"'),
        ("minimal means needed", "said told (Claims.minimal told.prepared what certificate)", "said told (Claims.needed told.prepared what certificate 0)"),
        ("needed means minimal", "said told (Claims.needed told.prepared what certificate index)", "ignore index; said told (Claims.minimal told.prepared what certificate)"),
        ("minimality is taken on trust", "said told (Claims.minimal told.prepared what certificate)", 'ignore (Claims.minimal told.prepared what certificate); "proved"'),
        ("the line may go on after prices", "let prices = Reader.prices told.head input in\n  Reader.line_end input;", "let prices = Reader.prices told.head input in"),
        ("numbers are taken of nothing", 'about_class here Claims.numbers input', 'about_class here (fun prepared certificate -> Claims.numbers prepared { certificate with Checker.statements = [] }) input'),
    ],
    "main.ml": [
        ("the number is always 0", "Printf.printf \"%x %x %s\\n%!\" number took", "Printf.printf \"%x %x %s\\n%!\" (number * 0) took"),
        ("what is beyond the limits is proved", 'let limit why = seeking := false; skip input; "limit: " ^ why in', 'let limit why = seeking := false; skip input; ignore why; "proved" in'),
        ("it goes on after an error", 'print_endline ("error: " ^ one_line why);\n      exit 2', 'print_endline ("error: " ^ one_line why);\n      exit 0'),
        ("time is not looked at", "if !seeking && Sys.time () > !deadline then", "if false then"),
        ("memory is not looked at", "if !seeking && (Gc.quick_stat ()).heap_words / (1 lsl 17) > megabytes then", "if false then"),
        ("half a line is a line", "| End_of_file when not (Reader.within_line source) -> ()", "| End_of_file -> ()\n  | End_of_file when not (Reader.within_line source) -> ()"),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class OCamlFault:
    """A file of `proofs/rocq/front` with a text, which it holds once, replaced; `wrong` says what is wrong then."""

    file: str
    wrong: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"

    def source(self) -> str:
        """The whole file. Raises ValueError where the text is not there once."""
        return replaced((FRONT / self.file).read_text(encoding="utf-8"), self.old, self.new)


FAULTS = [OCamlFault(file, *each) for file, faults in _TRUSTED.items() for each in faults]

SURVIVORS: dict[str, str] = {
    "claims.ml: numbers are told where there are none": "of every head that is read activations are enclosed",
    "claims.ml: pairs may be of no patch": "the matching finds no such pairs",
    "claims.ml: points may have any unit": "no unit that is found is 0 or below",
    "claims.ml: a point may have any unit": "no unit that is found is 0 or below",
    "claims.ml: what was prepared serves other settings": "settings are not trusted: the theorems hold for all of them",
}
"""Faults that no test detects, and why."""


def copied(rocq: Path, changed: dict[str, str]) -> None:
    """What the executable is built from, in a new folder, with other texts of some files of `front`."""
    shutil.copytree(FRONT.parent, rocq, ignore=shutil.ignore_patterns("theories", "*.vo*", "*.glob", "*.aux"))
    for name, text in changed.items():
        (rocq / "front" / name).write_text(text, encoding="utf-8")


def detected_by(fault: OCamlFault | None, tests: tuple[str, ...]) -> str | None:
    """The first of the tests that fails where the fault is; None if none does.

    Raises:
        ValueError: the fault does not compile, or tests cannot run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        copied(folder / "proofs" / "rocq", {} if fault is None else {fault.file: fault.source()})
        paths = os.pathsep.join((str(ROOT), str(folder / "tests")))
        options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", "-c", "/dev/null"]
        options += ["-o", "markers=long", "-o", f"pythonpath={folder / 'tests'}", "-m", "not long"]
        options += [f"--basetemp={folder / 'tmp'}"]  # the executable is built there, where nobody else looks
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"--rootdir={folder}", *tests],
            capture_output=True,
            text=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": paths},
            timeout=_SECONDS,
        )
    if "make proved failed" in done.stdout:
        raise ValueError(f"{fault} does not compile:\n{done.stdout[-2000:]}")
    failed = next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), None)
    if done.returncode not in ((0,) if failed is None else (1,)) or " skipped" in done.stdout:
        raise ValueError(f"the tests cannot run: {done.stdout[-2000:]}{done.stderr[-500:]}")
    return failed


def main(words: list[str]) -> int:
    chosen = [fault for fault in FAULTS if not words or any(word in str(fault) for word in words)]
    if accused := detected_by(None, tuple({test: None for fault in chosen for test in TESTS[fault.file]})):
        sys.stdout.write(f"without a fault: {accused}\n")
        return 1
    undetected = []
    for fault in chosen:
        try:
            found = detected_by(fault, TESTS[fault.file])
        except ValueError as error:
            found = None
            sys.stderr.write(f"{error}\n")
        undetected += [str(fault)] * (found is None)
        sys.stdout.write(f"{fault}\n    {found or 'SURVIVES: ' + SURVIVORS.get(str(fault), 'not listed')}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} faults, {len(chosen) - len(undetected)} detected\n")
    return 1 if set(undetected) - set(SURVIVORS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

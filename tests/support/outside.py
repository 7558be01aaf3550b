"""Faults outside the checker, in what stands between its verdicts and a user: each in a copy of the whole package, in
which the tests of its file then run. A fault that they do not detect is a test that is missing.

    PYTHONPATH=tests python -m support.outside [WORD...]
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pytest
from support.forking import keep_one_thread

_SECONDS = 300
"""The tests of a fault that take longer hang: they take some five, on a busy machine twenty."""
_IMPORTED = (
    *("torch", "safetensors.torch", "numba", "flint", "jsonschema", "click", "hypothesis"),
    *("pyarrow.parquet", "pyarrow.fs", "pyarrow.dataset"),
)
"""What is imported once, not in every process."""
_NOT_NEEDED = ("cacheprovider", "anyio", "xdist", "cov")
"""Plugins of pytest that each process would load."""
ROOT = Path(__file__).parents[2]
RECORDS = ("tests/unit/runs/test_records.py",)
LOG = ("tests/unit/runs/test_audit_log.py",)
RUNS = ("tests/unit/runs/test_audit.py", "tests/unit/runs/test_processes.py", "tests/unit/cli/test_audit.py")
EMITTED = ("tests/unit/runs/test_affordable.py",)
RESUME = ("tests/unit/ray/test_resume.py",)
ATTESTATION = ("tests/unit/runs/test_attestation.py",)
LARGE = ("tests/unit/cli/test_large_files.py",)
TELLING = ("tests/unit/adapters/test_telling.py",)
CHECK = ("tests/unit/runs/test_check.py",)
ARGUMENTS = ("tests/end_to_end/test_python_arguments.py",)
CERTIFICATES = ("tests/unit/datasets/test_certificates.py",)
GAP = ("tests/unit/runs/test_gap.py",)
PAGE = ("tests/unit/report/test_page_compare.py",)
INPUTS = ("tests/unit/cli/test_inputs.py",)
PRINTED = ("tests/unit/cli/test_printing.py",)
REPORT = ("tests/unit/report/test_verdicts.py",)
GUARD = ("tests/unit/ray/test_guard.py",)
OUTSIDE = ("tests/unit/report/test_outside.py",)
LINKS = ("tests/unit/runs/test_inputs.py",)
TESTS = {
    "runs/records.py": RECORDS,
    "runs/audit_log.py": LOG,
    "runs/audit.py": RUNS,
    "runs/auditor.py": RUNS,
    "runs/processes.py": RUNS,
    **dict.fromkeys(("runs/affordable.py", "runs/rows.py", "runs/summary.py", "cli/shared.py"), EMITTED),
    "cli/audit.py": (*RUNS, *ATTESTATION),
    "runs/attestation.py": ATTESTATION,
    "ray/audit.py": RESUME,
    "ray/guard.py": GUARD,
    "ray/pipeline.py": GUARD,
    "search/compiled/settings.py": ("tests/unit/search/test_compiled_settings.py",),
    "datasets/footer.py": ("tests/unit/datasets/test_footer.py",),
    "datasets/staging.py": ("tests/unit/datasets/test_staging.py", *RESUME),
    "report/verdicts.py": REPORT,
    "files.py": (*LARGE, *CERTIFICATES),
    "datasets/storage.py": LARGE,
    "cli/__init__.py": LARGE,
    "adapters/telling.py": TELLING,
    "adapters/published/__init__.py": TELLING,
    "adapters/published/genetic.py": TELLING,
    "adapters/cabrnet/heads.py": ("tests/unit/cli/test_head.py",),
    "adapters/endings.py": ("tests/unit/adapters/test_endings.py",),
    "adapters/latents.py": CHECK,
    "adapters/neighbours.py": CHECK,
    "runs/check.py": CHECK,
    "runs/comparison.py": CHECK,
    "runs/explain_model.py": (
        *ARGUMENTS,
        "tests/end_to_end/test_own_module.py::test_without_a_certificate_it_says_why_and_not_to_audit",
    ),
    "runs/model_images.py": (*CHECK, *ARGUMENTS),
    "search/options.py": ARGUMENTS,
    "cli/head.py": ("tests/unit/cli/test_head.py",),
    "cli/certificates.py": CERTIFICATES,
    "runs/gap.py": GAP,
    "runs/released.py": GAP,
    "cli/gap.py": (*GAP, *PRINTED),
    "report/picture.py": ("tests/unit/report/test_picture.py", *OUTSIDE),
    "search/caches.py": ("tests/unit/search/test_caches.py",),
    "search/compiled/jit.py": ("tests/unit/search/test_compiled_jit.py",),
    "search/devices/jit.py": ("tests/unit/search/test_devices_jit.py",),
    "report/page_check.py": INPUTS,
    "report/page_compare.py": PAGE,
    "report/page.py": PAGE,
    "cli/report.py": PAGE,
    "cli/inputs.py": INPUTS,
    "cli/ray_engine.py": INPUTS,
    "runs/arguments.py": (*INPUTS, *ARGUMENTS),
    "runs/attribute.py": INPUTS,
    "runs/rules.py": INPUTS,
    "cli/tables.py": PRINTED,
    "cli/cover.py": PRINTED,
    "report/collect.py": OUTSIDE,
    "report/images.py": OUTSIDE,
    "runs/source.py": OUTSIDE,
    "runs/inputs.py": LINKS,
    "adapters/checkpoint.py": ARGUMENTS,
}
"""The tests that have to detect the faults of a file that name none."""


@dataclass(frozen=True)
class OutsideFault:
    """The text `old`, which the file of `verale` holds once, replaced by `new`; `wrong` says what is wrong then.

    `test` has to detect it; without one, the tests of its file have to.

    Not `Fault` of the checker mutants: this process must not import `verale`, whose copy its children import.
    """

    file: str
    wrong: str
    old: str
    new: str
    test: str = ""

    @property
    def tests(self) -> tuple[str, ...]:
        return (f"tests/unit/{self.test}",) if self.test else TESTS[self.file]

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"

    def source(self) -> str:
        """The file with the fault. Raises ValueError where the text is not there exactly once."""
        source = (ROOT / "verale" / self.file).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise ValueError(f"{self}: {self.old!r} is there {source.count(self.old)} times, expected once")
        return source.replace(self.old, self.new)


_FAULTS: dict[str, list[tuple[str, ...]]] = {
    "files.py": [
        ("a file may have any size", "    if size > most:\n", "    if False:\n", "cli/test_large_files.py::test_a_limit_is_the_last_size_that_is_read"),
        ("a file may have a byte less", "    if size > most:\n", "    if size >= most:\n"),
        ("a size is looked at after reading", "            if limit < 0:\n", "            if False:\n", "cli/test_large_files.py::test_certificates_too"),
        ("links are not followed", "        return path.resolve()\n", "        return Path(os.path.abspath(path))\n", "report/test_outside.py"),
        ("any file may be unpacked", "name.endswith(CERTIFICATE_SUFFIX)", "name"),
        ("a name may end a line", "        and name.isprintable()\n", ""),
        ("a name may hide a file", 'name.startswith((".", "-"))', 'name.startswith("-")'),
        ("a name may be an option", 'name.startswith((".", "-"))', 'name.startswith(".")'),
        ("a name may lead out of its folder", "set('/\\\\:*", "set('\\\\:*"),
        ("a name may be of any length", " <= _LONGEST_NAME", ""),
        ("a subfolder comes before the folder", "if not certificates_in(folder) and certificates_in(inside)", "if certificates_in(inside)", "cli/test_folders.py::test_own_certificates_come_before_those_of_a_subfolder"),
    ],
    "datasets/storage.py": [
        ("a stored file may have any size", "            require_size(path, stream.size(), kind, most)\n", ""),
    ],
    "cli/tables.py": [
        ("a cell may look like two", "super().add_row(*map(one_field, cells)", "super().add_row(*map(lambda c: c.encode('unicode_escape').decode(), cells)"),
    ],
    "cli/gap.py": [
        ("a name may look like what is said of it", "{before_colon(file)}", "{file}"),
        ("another paradigm's bound is not told apart", "return line if gap.is_smallest is not None else", "return line if True else"),
    ],
    "cli/cover.py": [
        ("a name may look like what is said of it", "    name = before_colon(covered.certificate)\n", "    name = covered.certificate\n"),
    ],
    "cli/__init__.py": [
        ("too little memory is a traceback", "    except MemoryError:\n", "    except ZeroDivisionError:\n"),
    ],
    "runs/audit_log.py": [
        ("a verdict belongs to a name", "return json.dumps([digest, run], sort_keys=True)", "return json.dumps([run], sort_keys=True)"),
        ("a verdict belongs to any run", "return json.dumps([digest, run], sort_keys=True)", "return digest"),
        ("a verdict belongs to a head alone", "return json.dumps([digest, run], sort_keys=True)", 'return json.dumps([digest, run["head"]])'),
        ("the checker of a verdict may be another", "return json.dumps([digest, run], sort_keys=True)", 'return json.dumps([digest, {**run, "checker": None}], sort_keys=True)'),
        ("the options of a verdict may be others", "return json.dumps([digest, run], sort_keys=True)", 'return json.dumps([digest, {**run, "minimality": None}], sort_keys=True)'),
        ("the latents of a verdict may be others", "return json.dumps([digest, run], sort_keys=True)", 'return json.dumps([digest, {**run, "latents": None}], sort_keys=True)'),
        ("two verdicts on the same bytes", 'if any(other[field] != record[field] for field in ("status", "reason", "claims", "margins")):', "if False:"),
        ("what had no verdict has one", 'if record["status"] == UNUSABLE or record["sha256"] is None:', 'if record["sha256"] is None:'),
        ("a taken verdict has its old name", '{"certificate": name_of(path), "reused": True}', '{"reused": True}'),
        ("a taken verdict looks new", 'name_of(path), "reused": True}', "name_of(path)}"),
        ("a taken verdict counts as new", 'Outcome(record | {"certificate": name_of(path), "reused": True})', 'Outcome({**record, "certificate": name_of(path), "reused": True}, False)'),
        ("half a record is kept", "data[:length])", "data)"),
        ("the log forgets at its end", '"".join(json.dumps(outcome.record) + "\\n" for outcome in outcomes)', '"".join(json.dumps(outcome.record) + "\\n" for outcome in outcomes[1:])'),
        ("nothing is written on the way", '                stream.write(json.dumps(outcome.record) + "\\n")', "                pass"),
        ("a stored certificate is known by its name", "return certificate_digest(path.read())", "return certificate_digest(path.name.encode())"),
    ],
    "runs/records.py": [
        ("fields may contradict each other", "_problem(record, _RECORD, _OPTIONAL) or _contradiction(record)", "_problem(record, _RECORD, _OPTIONAL)"),
        ("fields may be anything", "_problem(record, _RECORD, _OPTIONAL) or _contradiction(record)", "_contradiction(record)"),
        ("a key may repeat", "if len(value) != len(pairs):", "if False:"),
        ("a record may lack fields", "if name not in value:", "if False:"),
        ("a record may have more fields", "if not value.keys() <= allowed.keys():", "if False:"),
        ("the code need not be the reason's", ' and record["exit_code"] == _exit_code(record)', ""),
        ("a reason need not be the status's", 'reason in _REASONS[status] and record', "record"),
        ("proved without entailment", '("entailment" in proved) == (status == "PROVED" or reason in ("minimality", "deployment"))', "True"),
        ("an instance proved without latents", '("instance" not in proved or run["latents"] is not None)', "True"),
        ("minimality proved unasked", '("minimality" not in proved or (run["minimality"] and (status == "PROVED" or reason == "deployment")))', "True"),
        ("a claim that was asked for is not checked", 'status != "PROVED" or proved == _asked(claims, run)', "True"),
        ("proved where no instance is claimed", '(reason == "unclaimed") == (status == "PROVED" and _is_unclaimed(claims, run))', "True"),
        ("proved with a margin below 0", 'status != "PROVED" or _are_positive(record)', "True"),
        ("a margin greater than all margins", "0 < stated <= Decimal", "0 < stated or Decimal"),
        ("a verdict on no bytes", 'status == UNUSABLE or record["sha256"] is not None or status == "MALFORMED"', "True"),
        ("nesting ends the program", "except RecursionError:", "except ZeroDivisionError:"),
        ("any line may come last", "if last and not (last.startswith(_START) or (records and _START.startswith(last))):", "if False:"),
        ("lines that are no records are left out", "            raise _refused(path, number, str(error)) from None", "            continue"),
    ],
    "runs/audit.py": [
        ("what is known is audited again", "None if log is None else log.known(path, auditor.run) for path in paths", "None for path in paths"),
        ("new ones are audited in another order", "zip(paths, known, strict=True) if outcome is None]", "zip(paths, known, strict=True) if outcome is None][::-1]"),
        ("what is new is not logged", "                log.add(outcome)\n", "                pass\n", "cli/test_audit.py::test_a_report_that_cannot_be_written"),
        ("the log is not finished", "        log.finish(outcomes)\n", "        pass\n"),
        ("the log has the last outcome alone", "        outcomes.append(outcome)\n", "        outcomes = [outcome]\n"),
        ("what is never proved is begun", "    if refused is not None:\n", "    if False:\n", "cli/test_audit.py::test_what_the_kernel_proved_never_proves_is_not_begun"),
        ("a certificate need claim no instance", "minimality, entailment_only, deployed)", "minimality, True, deployed)"),
        ("the latents are not read", "None if latents is None else latents_bytes(latents", "None if True else latents_bytes(latents"),
    ],
    "runs/auditor.py": [
        ("what cannot be read is proved", "return unusable(path.name, str(error), auditor.run)", 'return Outcome(unusable(path.name, str(error), auditor.run).record | {"exit_code": 0})', "runs/test_processes.py::test_a_stored_certificate_that_cannot_be_read_stops_nothing"),
        ("a stored certificate is read as a file", "return auditor.audit(path.name, data)", "return auditor.audit(path.name)", "runs/test_processes.py::test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name"),
        ("the options are the usual ones", "return FileAuditor(**vars(options))", "return FileAuditor(options.head, options.latents)"),
    ],
    "runs/affordable.py": [
        ("minimality is claimed whatever it takes", "if certificate.minimal and not proof.is_allowed(True):", "if False:"),
        ("minimality is never claimed", "if certificate.minimal and not proof.is_allowed(True):", "if certificate.minimal:"),
        ("what entailment takes is not asked", "        if not proof.is_allowed(False):\n", "        if False:\n"),
        ("the limit that is needed is the one there is", "            limit *= 2\n", "            break\n"),
        ("what is claimed beyond the limit stays claimed", "return Emitted(replace(certificate, minimal=False), certificate.minimal, proof.needed)", "return Emitted(certificate, False, proof.needed)"),
        ("no proof is run", "return self._passes(steps - self._instance, minimality)", "return False"),
        ("a proof that is not bounded passes", "return self._passes(steps - self._instance, minimality)", "return True"),
        ("what minimality takes is not asked", "return self._passes(steps - self._instance, minimality)", "return self._passes(steps - self._instance, False)"),
        ("what is counted while a proof runs is left out", "counted.steps + work.scaled(running) + self._instance", "counted.steps + self._instance"),
        ("a head has the bytes that its digest says", "replace(self._certificate, head=hashlib.sha256(self._head).hexdigest()).to_bytes()", "self._certificate.to_bytes()"),
    ],
    "ray/explain.py": [
        ("on a cluster a default audit is not asked about", "emitted = audits.emitted(images, ", "emitted = type(audits)(head, 2**60).emitted(images, ", "ray/test_whole.py::test_both_engines_claim_what_a_default_audit_answers"),
    ],
    "runs/rows.py": [
        ("the certificate that was found is written", "explanation = written.explanation", "explanation = result.explanation"),
        ("what is not claimed is not said", '"minimality" if written.unclaimed else None', "None"),
        ("the limit is not said", '"audit_limit": written.limit,', '"audit_limit": None,'),
    ],
    "runs/summary.py": [
        ("a summary says nothing of claims", "    if unclaimed:\n", "    if False:\n"),
        ("a summary says nothing of limits", "    if limits:\n", "    if False:\n"),
        ("a folder of a demo has no table", "    path = certificates_folder(path)\n", "", "cli/test_folders.py::test_a_folder_of_a_demo_is_taken"),
    ],
    "cli/shared.py": [
        ("nothing is said of claims", "    if unclaimed:\n", "    if False:\n"),
        ("nothing is said of limits", "    if limits:\n", "    if False:\n"),
        ("the least limit is said", "--limit {max(limits)}", "--limit {min(limits)}"),
        ("a misspelt value has no nearest one", "**one_of(*known)}", '"type": click.Choice(known)}', "cli/test_main.py::test_no_option_has_names_without_a_nearest_one"),
        ("a folder of a demo holds nothing", "certificates_in(certificates_folder(path))", "certificates_in(path)", "cli/test_folders.py::test_a_folder_of_a_demo_is_taken"),
        ("a folder is one certificate", "    if not Path(path).is_dir():\n        return path\n", "    return path\n", "cli/test_folders.py::test_a_command_for_one_certificate_names_one"),
    ],
    "runs/processes.py": [
        ("a head may change meanwhile", 'if outcome.record["run"] != run:', "if False:", "runs/test_processes.py::test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit"),
        ("what killed a process is left out", "            yield _alone(left.popleft(), options, run)\n", "            left.popleft()\n", "runs/test_processes.py::test_a_process_that_dies_costs_one_certificate"),
        ("what killed a process is proved", "return unusable(name_of(path), DIED, run)", 'from verale.checker.file_auditor import Outcome as O\n            return O(unusable(name_of(path), DIED, run).record | {"exit_code": 0})', "runs/test_processes.py::test_a_process_that_dies_costs_one_certificate"),
        ("processes import what lies in the current folder", '    os.environ["PYTHONSAFEPATH"] = "1"\n', '    os.environ["PYTHONSAFEPATH"] = ""\n', "../end_to_end/test_strangers_folder.py::test_audits_in_several_processes"),
        ("the process that tracks resources does", "        with _importing_nothing_here():\n            pool = _pool(min(jobs, len(left)), options)\n", "        pool = _pool(min(jobs, len(left)), options)\n        with _importing_nothing_here():\n", "../end_to_end/test_strangers_folder.py::test_audits_in_several_processes"),
        ("processes have other options", "_auditor = FileAuditor(**vars(options))", "_auditor = FileAuditor(options.head, options.latents)", "runs/test_processes.py::test_processes_have_the_options_that_are_given"),
    ],
    "ray/guard.py": [
        ("workers import any verale", "found is not None and sources_digest(found) == sha256", "True"),
        ("a digest is of names", "        digest.update(source)\n", "        pass\n"),
        ("Ray is started among files", "tempfile.mkdtemp(prefix=\"verale-\")", "tempfile.gettempdir()"),
        ("an actor is known by its name", "    cloudpickle.register_pickle_by_value(sys.modules[__name__])\n", ""),
    ],
    "ray/pipeline.py": [
        ("Ray is started in the current folder", "with chdir(nowhere()):", "with chdir(os.curdir):"),
    ],
    "search/compiled/settings.py": [
        ("numba is told by the current folder", "stack.enter_context(chdir(here))", "pass"),
        ("and told again when it compiles", "numba.core.config._config_fname = str(here / \".numba_config.yaml\")", "here = str(here)"),
    ],
    "cli/audit.py": [
        ("the code of the last", "code = most_severe(codes)", "code = codes[-1]", "cli/test_audit.py::test_lines_come_in_order_and_one_bad_file_stops_nothing"),
        ("what is never proved is begun", "    if refused is not None:\n", "    if False:\n", "cli/test_audit.py::test_what_the_kernel_proved_never_proves_is_not_begun"),
        ("the code is 0", "    sys.exit(code)\n", "    sys.exit(0)\n", "cli/test_audit.py::test_lines_come_in_order_and_one_bad_file_stops_nothing"),
        ("a folder without certificates is looked over", "            if not inside:\n", "            if False:\n", "cli/test_audit.py::test_what_holds_no_certificate_is_code_9_beside_what_is_proved"),
        ("what cannot be read has no code", "            codes.append(EXIT_UNUSABLE)\n", "            pass\n", "cli/test_audit.py::test_what_holds_no_certificate_is_code_9_beside_what_is_proved"),
        ("an outcome has no code", "                codes.append(outcome.exit_code)\n", "                codes.append(0)\n", "cli/test_audit.py::test_lines_come_in_order_and_one_bad_file_stops_nothing"),
        ("who interrupts has proved", "sys.exit(EXIT_INTERRUPTED)", "sys.exit(0)", "cli/test_audit.py::test_an_interrupt_leaves_a_report_that_is_taken_up_again"),
        ("minimality is not asked for", "head, latents, kernel, minimality, LIMIT", "head, latents, kernel, False, LIMIT", "cli/test_audit.py::test_every_option_reaches_the_audit"),
        ("the latents are not given", "head, latents, kernel, minimality, LIMIT", "head, None, kernel, minimality, LIMIT", "cli/test_audit.py::test_every_option_reaches_the_audit"),
        ("the limit is the usual one", "LIMIT if limit is None else limit,", "LIMIT,", "cli/test_audit.py::test_every_option_reaches_the_audit"),
        ("a certificate need claim no instance", "LIMIT if limit is None else limit, entailment_only, deployed", "LIMIT if limit is None else limit, True, deployed", "cli/test_audit.py::test_every_option_reaches_the_audit"),
        ("what is taken from the log is not said", "    if reused:\n", "    if False:\n", "cli/test_audit.py::test_a_report_is_what_json_prints_and_is_taken_up_again"),
        ("what is not proved may be attested", "attestation is not None and code == 0:", "attestation is not None:", "runs/test_attestation.py::test_nothing_is_attested_where_one_is_not_proved"),
        ("the digest is that of what the file holds by now", 'Inputs(head, latents), run["head"])', 'Inputs(head, latents), __import__("verale.runs.inputs").runs.inputs.sha256_of(used.head))', "cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used"),
        ("a log with verdicts may be attested", "if attestation is not None and audit_log is not None:", "if False:", "runs/test_attestation.py::test_verdicts_of_an_audit_log_are_not_attested"),
    ],
    "cli/ray_engine.py": [
        ("the digest is that of what the file holds by now", "Inputs(head, latents), run.head)", 'Inputs(head, latents), __import__("verale.runs.inputs").runs.inputs.sha256_of(found_head))', "cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used"),
    ],
    "runs/attestation.py": [
        ("a verdict that is not PROVED is attested", "            _require_proved_now(outcome)\n", "            pass\n"),
        ("a verdict from a log is attested", "    if outcome.reused:\n", "    if False:\n"),
        ("two checkers are one", "policy != policies[0] for policy in policies", "False for policy in policies"),
        ("a file may change", "if subjects.setdefault(name, subject) != subject:", "if not subjects.setdefault(name, subject):"),
        ("a claim of one is a property of all", "if all(_is_proved(r, claim)", "if any(_is_proved(r, claim)"),
    ],
    "ray/audit.py": [
        ("records need not be of this run", '    if any(record["run"] != run for record in records):\n        return False\n', ""),
        ("records need not be of these bytes", '    if [(record["certificate"], record["sha256"]) for record in records] != now:\n        return False\n', ""),
        ("records belong to names", '    if [(record["certificate"], record["sha256"]) for record in records] != now:', '    if [record["certificate"] for record in records] != [name for name, _ in now]:'),
        ("records may have any order", '    if [(record["certificate"], record["sha256"]) for record in records] != now:', '    if sorted((record["certificate"], str(record["sha256"])) for record in records) != sorted((a, str(b)) for a, b in now):', "ray/test_resume.py::test_a_part_that_lies_is_audited_again"),
        ("damaged records are kept", "    except (InputError, ValueError, TypeError):  # damaged, or not what an audit writes\n        return False", "    except (InputError, ValueError, TypeError):  # damaged, or not what an audit writes\n        return True"),
        ("records are not looked at", "read_record(row[\"record\"]) for row", "json.loads(row[\"record\"]) for row"),
        ("what is taken over looks new", '_parquet([record | {"reused": True} for record in records])', "_parquet(records)"),
        ("the latents may change meanwhile", 'if latents is not None and latents.digest() != run["latents"]:', "if False:", "ray/test_resume.py::test_latents_that_change_while_certificates_are_audited"),
        ("changed latents leave their records", "        staged.discard()\n", "", "ray/test_resume.py::test_latents_that_change_while_certificates_are_audited"),
        ("the layout may be another", '"layout": layout}', '"layout": 0}'),
        ("the run is left out of the manifest", '"layout": layout}, "run": run}', '"layout": layout}}'),
        ("an image with another index is not found", 'if record["reason"] == "subject" and self._auditors.latents is not None:', "if False:", "ray/test_pipeline.py::test_an_image_is_found_wherever_its_latents_are"),
    ],
    "datasets/staging.py": [
        ("every part is kept", "and is_true(start, stop):", "and (is_true(start, stop) or True):"),
        ("parts may overlap", "if reached <= start <= stop <= total", "if start <= stop <= total"),
        ("parts may lie behind the end", "if reached <= start <= stop <= total", "if reached <= start <= stop"),
        ("a part that does not count stays", "                files.delete_file(path)\n        return kept", "                pass\n        return kept"),
        ("a dataset begun otherwise is continued", "            if begun != current:\n", "            if False:\n"),
        ("a dataset is published with a gap", "            if start != reached:\n                break\n", ""),
        ("a dataset is published before its end", "        if reached != total:\n", "        if reached > total:\n"),
        ("what is no part is published", "if one.type.name != \"File\" or name != posixpath.basename(self._part(start, stop)):", "if False:"),
        ("a finished dataset is replaced unasked", "if not overwrite and storage.exists(self.path):", "if False:"),
    ],
    "datasets/footer.py": [
        ("types that unpickle are read", "    if _names_what_runs(_footer(stream)):\n", "    if False:\n"),
        ("they begin where base64 does", "for begin in range(4):", "for begin in range(1):"),
        ("the file's end is its footer", "stream.read_at(min(length, size - 8), max(0, size - 8 - length))", "stream.read_at(8, size - 8)"),
    ],
    "report/verdicts.py": [
        ("a verdict belongs to a name", "records.get((str(item.path), item.sha256))", "next((r for (n, _), r in records.items() if n == str(item.path)), None)"),
        ("a verdict of another head", "return records.get((item.sha256, head or named))", "return next((r for (s, _), r in records.items() if s == item.sha256), None)"),
        ("a verdict on other bytes", "return records.get((item.sha256, head or named))", "return next((r for (_, h), r in records.items() if h == (head or named)), None)"),
        ("minimality is not asked for", 'latents, "arb", minimality), jobs', 'latents, "arb", False), jobs'),
        ("the latents are not given", 'AuditOptions(str(collection.head_path), latents, "arb"', 'AuditOptions(str(collection.head_path), None, "arb"'),
        ("a verdict is about a head that came later", 'if outcome.record["run"]["head"] != digest:', "if False:", "cli/test_inputs.py::test_a_report_is_about_one_head"),
    ],
    "report/page_check.py": [
        ("the page asks about a head that came later", "if head.sha256 != digest:", "if False:", "cli/test_inputs.py::test_a_report_is_about_one_head"),
    ],
    "report/page_compare.py": [
        ("what differs is looked over", "    if difference is not None:\n", "    if False:\n"),
        ("the checker in a page may be any", "if _inflated(there, here) != _inflated(here, here):", "if False:"),
        ("a page may say anything of a certificate", "if inflated != expected:", "if False:"),
        ("a page may show any picture", "if image != own_image:", "if False:"),
        ("a page may list anything", '        if name == "data":\n            yield', '        if name == "data":\n            continue\n            yield'),
        ("a page may say and do anything besides", "if shells[0] != shells[1]:", "if False:"),
        ("a page may take any place for a time", r'"audit": \[[0-9., eul+n-]*\]', r'"audit": \[[^]]*\]'),
    ],
    "report/page.py": [
        ("names that the head lacks are not the page's", '"ownNames": _names_are_own(collection),', '"ownNames": False,'),
        ("images may lie anywhere", " and collection.source.admits(item.file):", ":", "report/test_outside.py::test_nothing_outside_is_read_or_shown"),
        ("pictures of prototypes may lie anywhere", "if not collection.source.admits(file):", "if False:", "report/test_outside.py::test_nothing_outside_is_read_or_shown"),
    ],
    "cli/report.py": [
        ("a page that is compared is not", "        require_same(target, data)\n", "        pass\n"),
        ("a page that is compared is replaced", "        require_same(target, data)\n", "        require_same(target, data)\n        write_atomically(target, data)\n"),
        ("what is not shown is not said", "    if collection.outside:\n", "    if False:\n", "report/test_outside.py::test_nothing_outside_is_read_or_shown"),
    ],
    "cli/inputs.py": [
        ("the digest is that of what the file holds by now", "sha256 {sha256}", "sha256 {HeadFile.of(str(used.head)).sha256}"),
        ("a folder of a demo has its own head alone", "return certificates_folder(path) if", "return path if", "cli/test_folders.py::test_head_and_latents_are_those_beside_the_certificates"),
        ("a path that is not there lacks a head", "and not os.path.lexists(given):", "and False:", "cli/test_folders.py::test_a_path_that_is_not_there_is_what_is_named"),
    ],
    "runs/arguments.py": [
        ("the checker reads a head again", "        return head.data\n", '        return read(head.path, "a head file")\n', "cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used"),
        ("a head file is read again", "return file if isinstance(file, HeadFile) else", "return", "cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used"),
        ("a class has no name", "labels = head.labels or ()", "labels = ()", "cli/test_folders.py::test_a_class_has_a_name"),
        ("the first class of a name is meant", "        if len(classes) > 1:\n", "        if False:\n", "cli/test_folders.py::test_a_class_has_a_name"),
        ("case counts for nothing", "for alike in (str, str.casefold):", "for alike in (str.casefold,):", "cli/test_folders.py::test_a_class_has_a_name"),
        ("seconds may be words", "if not isinstance(seconds, Real) or not float(seconds) >= 0:", "if not seconds >= 0:"),
        ("what is written may go anywhere", "    if out is not None and not is_path(out):\n", "    if False:\n"),
    ],
    "runs/attribute.py": [
        ("the head that is written is read again", "{HEAD: HeadFile.of(head).data", "{HEAD: HeadFile.of(HeadFile.of(head).path).data", "cli/test_inputs.py::test_the_head_that_is_written_is_the_one_that_was_explained"),
    ],
    "runs/rules.py": [
        ("the head that is written is read again", "{HEAD: HeadFile.of(head).data", "{HEAD: HeadFile.of(HeadFile.of(head).path).data", "cli/test_inputs.py::test_the_head_that_is_written_is_the_one_that_was_explained"),
    ],
    "adapters/telling.py": [
        ("a tensor of one network alone says nothing", "for key, name in _ONLY.items() if key in tensors]", "for key, name in _ONLY.items() if False]"),
        ("another network's state is taken", "        if name not in sign.names:\n", "        if False:\n"),
        ("a kernel along a sequence says nothing", "along = next((key for key, kernel in kernels.items() if kernel.shape[-1] > 1), None)", "along = None"),
        ("an add-on is left out", 'add_on = next((key for key in tensors if key.startswith("add_on_layers.")), None)', "add_on = None"),
        ("kernels of images run along a sequence", "if kernel.dim() == 4 and kernel.shape[2] > 1), None)", "if False), None)"),
        ("cosines are of fixed prototypes", '("genetic",) if fixed is True else ()', '("genetic",)'),
        ("a class says nothing", "elif str(kind).lower() in _CLASSES:", "elif False:"),
        ("a stated option is not taken", "known.setdefault(option, value) != value", "known.get(option, value) != value"),
        ("a contradicted option is taken", "if known.setdefault(option, value) != value:", "if known.setdefault(option, value) == 0:"),
        ("positions are the second number", "first = _number(value[0]) if", "first = _number(value[-1]) if"),
        ("arguments of a run say nothing", "        if key in _ARGUMENTS:\n", "        if False:\n"),
        ("a wrapped model says nothing", "        elif is_module(value):\n", "        elif False:\n"),
        ("prototypes below the domain are inside", "(head.domain.lower, -1), ", ""),
        ("prototypes above the domain are inside", ", (head.domain.upper, 1)):", ",):"),
        ("one channel is looked at", "(sign * (points - end)).amax(1)", "(sign * (points - end))[:, 0]"),
    ],
    "adapters/published/__init__.py": [
        ("whose the state is is not asked", "    require_own(name, tensors, said)\n    known", "    known"),
        ("prototypes outside are not told", "    if outside is not None:\n", "    if False:\n"),
        ("an option that is missing is a misfit", "            pass  # an option is missing, which is asked for after the tensors", "            continue"),
        ("own networks are looked at like published ones", "    require_options(name, options)\n    tensors, said = unwrap(model.state_dict()), {}\n", "    require_options(name, options)\n    tensors, said = unwrap(model.state_dict()), {}\n    require_own(name, tensors, said)\n"),
        ("options may be of any kind", '        require_kind(f"option {option}", value, kind, expected)\n', "", "../end_to_end/test_python_arguments.py"),
        ("prototypes of own networks are not looked at", "return _warned(name, architecture(name)(tensors, **settled(name, options, tensors, said)))", "return architecture(name)(tensors, **settled(name, options, tensors, said))"),
    ],
    "adapters/published/genetic.py": [
        ("an option is asked for before the tensors", '    prototypes = kernels(state, "prototype_vectors")\n', '    if patches is None:\n        raise UsageError("option patches")\n    prototypes = kernels(state, "prototype_vectors")\n'),
    ],
    "adapters/cabrnet/heads.py": [
        ("prototypes of a run are not looked at", "    if outside is not None:\n", "    if False:\n"),
    ],
    "adapters/endings.py": [
        ("a tanh is a sigmoid", "nn.Tanh: lambda module: (-1.0, 1.0)", "nn.Tanh: lambda module: (0.0, 1.0)"),
        ("what follows a layer's end is its end", "if type(module) not in _UNCHANGED]", "]"),
        ("a class of one's own is torch's", "_RANGES.get(type(layer))", "next((made for kind, made in _RANGES.items() if isinstance(layer, kind)), None)"),
        ("a domain may cut the lower end", "self.lower < lower)", "False)"),
        ("a domain may cut the upper end", "self.upper > upper\n", "False\n"),
        ("an open end is closed", "own is None and end is not None for", "False for"),
    ],
    "adapters/latents.py": [
        ("what is compiled is not unwrapped", "    while (inner := dict(model.named_children()).get(_COMPILED)) is not None:\n        model = inner\n", "    while (inner := None) is not None:\n        model = inner\n"),
        ("a network's own errors come through", "    except Exception as error:  # whatever a network's own code raises", "    except ZeroDivisionError as error:"),
        ("colours that stand last are not told", "if len(shape) == 4 and shape[3] in _COLOURS", "if len(shape) == 5 and shape[3] in _COLOURS"),
        ("parameters need no numbers", "if any(parameter.is_meta for parameter in model.parameters()):", "if False:"),
        ("calls may be anything", "if type(calls) is not int or calls < 1:", "if False:"),
    ],
    "adapters/neighbours.py": [
        ("the worst number is fitted", "best = min(range(_STEPS + 1), key=", "best = max(range(_STEPS + 1), key="),
        ("a number is not fitted finely", "number = math.exp(_least(off, low, high))", "number = math.exp(start + best * step)"),
        ("the other part is kept", "        if found[0] <= found[1]:\n", "        if found[0] > found[1]:\n"),
        ("cosines have no number", "    if isinstance(head.geometry, Cosine):\n        rooted", "    if False:\n        rooted"),
    ],
    "runs/check.py": [
        ("a number need explain a few images alone", " and _inside_of(neighbour.head, *every):", ":"),
        ("a number need not explain", "if option not in found and _inside_of(neighbour.head, *some) and _inside_of(neighbour.head, *every):", "if option not in found:"),
        ("the labels are left out", "labels=None if labels is None else tuple(labels)", "labels=None"),
        ("the images' numbers are left out", "        images=given.images,\n", ""),
        ("the layer's end is left out", "        ending=given.ending,\n", ""),
        ("one parameter is looked at", "    for each in numbers:\n", "    for each in numbers[:1]:\n"),
        ("a function may fail on the output", "    except Exception as error:  # whatever a function of the caller's raises", "    except ZeroDivisionError as error:"),
    ],
    "runs/comparison.py": [
        ("wrong images are right", "sum(map(int.__eq__,", "sum(map(int.__ne__,"),
        ("chance is not told", "right / count <= hardly:", "right / count < 0:"),
        ("few images tell", "count >= _FEW", "count >= 1"),
        ("half is hardly more than chance", "_HARDLY = 0.1", "_HARDLY = 0.5"),
        ("bytes are normalised", "_NORMALISED = 10.0", "_NORMALISED = 1000.0"),
        ("normalised images are bytes", "_NORMALISED = 10.0", "_NORMALISED = 1.5"),
        ("a domain may be narrower than the layer", " and self.in_domain and not self._is_cut", " and self.in_domain"),
        ("a narrower domain is not told", "        if self._is_cut:\n", "        if False:\n"),
        ("an end that the layer has not is not told", "if self.ending is not None and self.ending.is_open_where(self.domain):", "if False:"),
        ("warnings are not printed", '        lines += [f"warning: {each}" for each in self.warnings]\n', ""),
    ],
    "runs/explain_model.py": [
        ("the search refuses what is written", "        Batches(found, latents, search_options)", "        Batches"),
        ("arguments are not looked at", "        require_kind(name, value, *expected[name])\n", "        pass\n"),
        ("warnings are not logged", "        for warning in comparison.warnings:\n", "        for warning in []:\n"),
        ("the labels are not compared", "compare(found, compared, known)", "compare(found, compared)"),
        ("what is compiled is described", "    model, layer, _ = find_layer(model, layer)\n", ""),
        ("why there is none is not said", "        lines += reasons(self.rows, self.folder / TABLE)\n", ""),
        ("nothing is to be audited", "        if not explained:\n", "        if False:\n"),
    ],
    "runs/model_images.py": [
        ("numpy's types are enough", "return values.float() if values.dtype == torch.bfloat16 else values", "return values"),
        ("folders are no classes", "return (None, None) if folders is None else (labels_of(names, folders), folders)", "return (None, None)"),
        ("labels may be of no class", "        if not 0 <= label < head.classes:\n", "        if False:\n"),
    ],
    "search/options.py": [
        ("options may be of any kind", "            require_kind(name, getattr(self, name), kind, expected)\n", "            pass\n"),
        ("unknown options come through", "            if name not in known:\n", "            if False:\n"),
        ("text is not read", "        if isinstance(given.get(\"avoid\"), str):\n", "        if False:\n"),
    ],
    "cli/head.py": [
        ("a suggestion lacks its option", 'if "genetic" in found and', "if False and"),
        ("the first of several is suggested", "    if len(found) > 1:\n", "    if False:\n"),
    ],
    "cli/certificates.py": [
        ("names are looked at when they are written", "    _require_names(parquet, [one.short for one in packed])\n", ""),
        ("two names may be one file", 'return normalize("NFKC", name).casefold()', "return name"),
        ("what lies beside is replaced unasked", "(*(one.short for one in packed), *beside)", "[one.short for one in packed]"),
        ("any file is packed", "        if not is_certificate_name(name):\n            raise InputError(file", "        if False:\n            raise InputError(file"),
    ],
    "runs/gap.py": [
        ("any paradigm is compared with the bound", "if self.certificate.paradigm == PARADIGM else None", ""),
        ("what the bound is about is not said", '            "least_paradigm": PARADIGM,\n', ""),
        ("the bound may be about another class", "!= released.certificate.predicted:", "== -1:"),
    ],
    "runs/released.py": [
        ("a certificate need not be about its image", "    if verdict.status is not Status.PROVED:\n        raise UnprovedInputError(named(certificate, \"certificate\"), verdict)\n    return", "    return"),
    ],
    "report/picture.py": [
        ("options of the current folder count", "        rcdefaults()\n", "", "report/test_picture.py::test_no_option_of_a_strangers_folder_counts"),
        ("an image may lie anywhere", " and collection.source.admits(item.file):", ":"),
    ],
    "search/caches.py": [
        ("a cache may lie in a stranger's folder", "if not os.path.isabs(path):", "if False:", "search/test_compiled_jit.py::test_a_cache_in_the_current_folder_is_never_taken"),
        ("links are not followed", "Path(os.path.realpath(path))", "Path(path)"),
        ("only the folder itself is asked about", "for each in (*folder.parents, folder):", "for each in [folder]:"),
        ("only what stands above is asked about", "for each in (*folder.parents, folder):", "for each in folder.parents:"),
        ("what is created is as the umask says", "each.mkdir(mode=0o700, exist_ok=True)", "each.mkdir(exist_ok=True)"),
        ("a group may write", "shared = status.st_mode & 0o022", "shared = status.st_mode & 0o002"),
        ("others may write", "shared = status.st_mode & 0o022", "shared = status.st_mode & 0o020"),
        ("a sticky folder is the user's own", "status.st_mode & stat.S_ISVTX and not is_last", "status.st_mode & stat.S_ISVTX"),
        ("folders may be anybody's", "    if not _is_own(status):\n", "    if False:\n"),
        ("files may be anybody's", " or not _is_own(status) or", " or"),
        ("files may be written by anybody", "_is_own(status) or written:", "_is_own(status):"),
        ("a link is a file", "not stat.S_ISREG(status.st_mode) or", ""),
    ],
    "search/compiled/jit.py": [
        ("machine code is taken from anywhere", "folder = own_folder(folder)", "folder.mkdir(parents=True, exist_ok=True)", "search/test_compiled_jit.py::test_machine_code_that_others_may_have_written_does_not_run"),
        ("a variable of numba chooses the cache", '_settings.CACHE_LOCATOR_CLASSES = ""', "", "search/test_compiled_jit.py::test_no_option_of_numba_chooses_another_cache"),
    ],
    "search/devices/jit.py": [
        ("Triton's machine code is taken from anywhere", "        _require_own_cache()\n", "        pass\n"),
    ],
    "datasets/certificates.py": [
        ("a folder of a demo is a dataset", "certificates_in(certificates_folder(folder))", "certificates_in(folder)", "cli/test_folders.py::test_a_parquet_file_beside_them_changes_nothing"),
    ],
    "runs/table.py": [
        ("the rarest reasons are named", "key=lambda each: -len(each[1])", "key=lambda each: len(each[1])", "runs/test_table.py::test_the_most_frequent_reasons_are_named"),
    ],
    "report/collect.py": [
        ("a folder of a demo has no report", "folder = certificates_folder(given) if", "folder = given if", "cli/test_folders.py::test_a_folder_of_a_demo_is_taken"),
        ("images may lie anywhere", ".within(*trusted)", ""),
        ("what is not shown is not said", "        if not folders:\n", "        if folders or not folders:\n"),
    ],
    "runs/source.py": [
        ("every file may be read", "lies_in(file, self.roots)", "True"),
    ],
    "runs/inputs.py": [
        ("a link to latents may lead anywhere", 'if "://" in file or not lies_in(path, [link.parent]):', 'if "://" in file:'),
        ("a link to latents may be an address", 'if "://" in file or not', "if not"),
        ("links of the system are not followed", "lies_in(path, [link.parent])", "Path(os.path.abspath(path)).is_relative_to(os.path.abspath(link.parent))"),
    ],
    "report/images.py": [
        ("images that are noted may lie anywhere", "if not source.admits(noted):", "if False:"),
        ("images are looked for wherever links lead", " and self._source.admits(file):", ":"),
    ],
    "adapters/checkpoint.py": [
        ("a number is a path", '    require_path(path, "load_state(path)")\n', ""),
    ],
}  # fmt: skip
FAULTS = [OutsideFault(file, *each) for file, faults in _FAULTS.items() for each in faults]
"""What is wrong, the source text, what takes its place, and the test that detects it where others take long."""

SURVIVORS: dict[str, str] = {
    "runs/audit_log.py: a stored certificate is known by its name": "no log has that digest: it is audited again",
}
"""Faults that no test detects, and why."""


def detected_by(fault: OutsideFault | None, tests: tuple[str, ...]) -> str | None:
    """The first of the tests that fails in a copy of the package with the fault; None if none does.

    Raises:
        ValueError: a fault that cannot be injected, or tests that cannot run.
    """
    source = None if fault is None else fault.source()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "verale"
        shutil.copytree(ROOT / "verale", copy)
        if fault is not None and source is not None:
            (copy / fault.file).write_text(source, encoding="utf-8")
        output = Path(folder) / "output"
        process = get_context("fork").Process(target=_test, args=(folder, output, tests))
        process.start()
        assert process.pid is not None
        try:
            process.join(None if fault is None else _SECONDS)
            if process.is_alive():
                stacks = output.read_text(encoding="utf-8", errors="replace")
                raise ValueError(f"{fault}: the tests take more than {_SECONDS} seconds\n{stacks}")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the tests started, too
            process.join()
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), None)
    if process.exitcode not in ((0,) if failed is None else (1, 2)):
        raise ValueError("the tests cannot run: " + "\n".join(lines[-20:]))
    return failed


def _test(folder: str, output: Path, tests: tuple[str, ...]) -> None:
    """In a process of its own: its exit code is that of pytest."""
    os.setpgid(0, 0)
    stream = output.open("wb")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    faulthandler.dump_traceback_later(_SECONDS - 10, file=stream)  # where they hang
    os.chdir(ROOT)
    # Where this process and those that it starts find the package.
    os.environ["PYTHONPATH"] = os.pathsep.join((folder, str(ROOT / "tests")))
    sys.path[:] = [folder, str(ROOT / "tests"), *(path for path in sys.path if path and Path(path) != ROOT)]
    import verale

    if not str(verale.__file__).startswith(folder):
        raise ValueError(f"{verale.__file__} is another copy of the package")
    options = ["-x", "-q", "-W", "ignore::pytest.PytestAssertRewriteWarning", "--no-header", "--tb=no"]
    options += [word for plugin in _NOT_NEEDED for word in ("-p", f"no:{plugin}")]
    options += ["-o", f"pythonpath={folder} tests ."]
    sys.exit(pytest.main([*options, *tests]))


def main(words: list[str]) -> int:
    keep_one_thread()
    for module in _IMPORTED:
        import_module(module)
    chosen = [fault for fault in FAULTS if not words or any(word in str(fault) for word in words)]
    undetected, detecting = 0, set()
    for fault in chosen:
        try:
            found = detected_by(fault, fault.tests)
        except ValueError as error:
            found = None
            sys.stderr.write(f"{error}\n")
        if found is None:
            undetected += 1
        else:  # FAILED a/file.py::test[parameters] - message
            detecting.add(found.split()[1].partition("[")[0])
        sys.stdout.write(f"{fault}\n    {found or 'SURVIVES: ' + SURVIVORS.get(str(fault), 'not listed')}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} faults, {len(chosen) - undetected} detected\n")
    if accused := detected_by(None, tuple(sorted(detecting))):
        sys.stdout.write(f"without a fault: {accused}\n")
        return 1
    return 1 if undetected > sum(str(fault) in SURVIVORS for fault in chosen) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

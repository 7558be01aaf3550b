"""The faults of `support.outside`: one file of `verale` each, in which something stands in the place of something else.

FILE: WHAT IS WRONG THEN
    OLD => NEW, as `support.syntax.edited` takes them, on as many lines as they need
    the one test below `tests` that has to detect it
"""

from __future__ import annotations

__all__ = ["TABLE"]

TABLE = r"""
files.py: a file may have any size
    size > most => False
    unit/cli/test_large_files.py::test_a_limit_is_the_last_size_that_is_read
files.py: a size is looked at after reading
    limit < 0 => False
    unit/cli/test_large_files.py::test_certificates_too[necessity]
files.py: links are not followed
    path.resolve() => Path(os.path.abspath(path))
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[linked_files-html]
files.py: a name may lead out of its folder
    set(name) & set('/\\:*?"<>|') => set(name) & set('\\:*?"<>|')
    unit/datasets/test_certificates.py::test_a_name_that_no_certificate_has_is_refused_before_anything_is_written
datasets/storage.py: a stored file may have any size
    require_size(path, stream.size(), kind, most) => pass
    unit/cli/test_large_files.py::test_a_limit_is_the_last_size_that_is_read
datasets/footer.py: types that unpickle are read
    _names_what_runs(_footer(stream)) => False
    unit/datasets/test_footer.py::test_a_column_of_pickles_is_refused[certificate-type]
datasets/staging.py: parts may overlap
    reached <= start <= stop <= total => start <= stop <= total
    unit/datasets/test_staging.py::test_parts_that_still_count_are_kept_and_the_rest_is_done_again[memory]
datasets/certificates.py: a folder of a demo is a dataset
    certificates_in(certificates_folder(folder)) => certificates_in(folder)
    unit/cli/test_folders.py::test_a_parquet_file_beside_them_changes_nothing

runs/audit_log.py: a verdict belongs to a name
    json.dumps([digest, run], sort_keys=True) => json.dumps([run], sort_keys=True)
    unit/runs/test_audit_log.py::test_an_outcome_is_known_for_the_same_bytes_and_options
runs/audit_log.py: a verdict belongs to any run
    json.dumps([digest, run], sort_keys=True) => digest
    unit/runs/test_audit_log.py::test_an_outcome_is_known_only_where_all_of_its_run_is_the_same
runs/audit_log.py: two verdicts on the same bytes
    any(other[field] != record[field] for field in ("status", "reason", "claims", "margins")) => False
    unit/runs/test_audit_log.py::test_a_log_with_two_verdicts_on_the_same_bytes_is_refused_and_left_alone
runs/audit_log.py: a taken verdict looks new
    {"certificate": name_of(path), "reused": True} => {"certificate": name_of(path)}
    unit/runs/test_audit_log.py::test_a_known_certificate_may_have_moved
runs/records.py: a key may repeat
    len(value) != len(pairs) => False
    unit/runs/test_records.py::test_a_repeated_key_is_refused
runs/records.py: the code need not be the reason's
    record["exit_code"] == _exit_code(record) => True
    unit/runs/test_records.py::test_the_line_is_named
runs/records.py: a claim that was asked for is not checked
    status != "PROVED" or proved == _asked(claims, run) => True
    unit/runs/test_records.py::test_a_field_of_another_value_is_refused[claims]
runs/records.py: minimality proved unasked
    "minimality" not in proved or (run["minimality"] and (status == "PROVED" or reason == "deployment")) => True
    unit/runs/test_records.py::test_a_verdict_that_is_not_proved_does_not_contradict_itself_either
runs/audit.py: verdicts come in another order
    [path for path, outcome in zip(paths, known, strict=True) if outcome is None]
    => [path for path, outcome in zip(paths, known, strict=True) if outcome is None][::-1]
    unit/runs/test_audit.py::test_the_log_ends_with_this_run_in_its_order
runs/audit.py: a certificate need claim no instance
    auditor.check(certificate_bytes(certificate, LARGEST + 1), minimality, entailment_only, deployed)
    => auditor.check(certificate_bytes(certificate, LARGEST + 1), minimality, True, deployed)
    unit/runs/test_audit.py::test_a_certificate_without_an_instance_claim_is_accepted_only_where_that_is_asked
runs/auditor.py: what cannot be read is proved
    unusable(path.name, str(error), auditor.run)
    => Outcome(unusable(path.name, str(error), auditor.run).record | {"exit_code": 0})
    unit/runs/test_processes.py::test_a_stored_certificate_that_cannot_be_read_stops_nothing
runs/auditor.py: a stored certificate is read as a file
    auditor.audit(path.name, data) => auditor.audit(path.name)
    unit/runs/test_processes.py::test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name
runs/processes.py: a head may change meanwhile
    outcome.record["run"] != run => False
    unit/runs/test_processes.py::test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit
runs/processes.py: what killed a process is proved
    unusable(name_of(path), DIED, run)
    => __import__("verale").checker.file_auditor.Outcome(
        unusable(name_of(path), DIED, run).record | {"exit_code": 0}
    )
    unit/runs/test_processes.py::test_a_process_that_dies_costs_one_certificate
runs/processes.py: processes import what lies in the current folder
    os.environ["PYTHONSAFEPATH"] = "1" => os.environ["PYTHONSAFEPATH"] = ""
    end_to_end/test_strangers_folder.py::test_audits_in_several_processes
runs/affordable.py: minimality is claimed whatever it takes
    certificate.minimal and not proof.is_allowed(True) => False
    unit/runs/test_affordable.py::test_a_run_claims_no_minimality_that_its_audit_would_refuse
runs/rows.py: margins are rounded to the nearest
    float(below(explanation.margin)) => float(f"{explanation.margin:.2g}")
    end_to_end/test_own_numbers.py::test_margins_of_tables_are_rounded_down
runs/rows.py: the certificate that was found is written
    written.explanation => result.explanation
    unit/runs/test_affordable.py::test_a_run_says_which_limit_an_audit_needs
runs/summary.py: a summary says nothing of claims
    if unclaimed:
        _log.warning("%s: %d certificates do not claim minimality: its proof takes too many steps", path, unclaimed)
    => pass
    unit/runs/test_affordable.py::test_a_run_claims_no_minimality_that_its_audit_would_refuse
runs/truth.py: what is not decided is false
    False if error.false else None => False
    unit/runs/test_truth.py::test_there_are_three_answers
runs/compare.py: statements are decided at A's latents
    other.certificate.latents or self.b.latents(second) => one.certificate.latents
    unit/runs/test_compare.py::test_what_cannot_be_compared_is_named[other latents]
runs/compare.py: heads that compare otherwise are asked
    "; ".join([] if same else differences(first.head, second.head)) => ""
    unit/runs/test_compare.py::test_other_prototypes_or_another_geometry_leave_only_classes
runs/explained_run.py: a certificate may have changed
    row.sha256 not in (None, hashlib.sha256(data).hexdigest()) => False
    unit/runs/test_compare.py::test_what_cannot_be_compared_is_named[a changed certificate]
runs/paired.py: equal files are taken from the end
    sorted(b, reverse=True) => sorted(b)
    unit/runs/test_compare.py::test_equal_files_are_matched_in_their_order
runs/summary.py: what is not labelled is wrong
    sum(row.correct is not None for row in rows) => len(rows)
    unit/runs/test_summary.py::test_accuracy_counts_every_image_whose_true_class_is_known
cli/summary.py: names are LaTeX
    _LATEX.get(character, character) => character
    unit/runs/test_summary.py::test_latex_is_escaped
runs/attestation.py: a verdict from a log is attested
    outcome.reused => False
    unit/runs/test_attestation.py::test_no_statement_is_made_of_a_record_that_is_no_proof[{'reused': True}]
runs/attestation.py: a file may change
    subjects.setdefault(name, subject) != subject => not subjects.setdefault(name, subject)
    unit/runs/test_attestation.py::test_no_statement_is_made_of_a_file_that_changed[head]
runs/attestation.py: a claim of one is a property of all
    all(_is_proved(r, claim) for r in records) => any(_is_proved(r, claim) for r in records)
    unit/runs/test_attestation.py::test_one_certificate_without_a_claim_takes_the_property_away
runs/arguments.py: the checker reads a head again
    head.data => read(head.path, "a head file")
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[gap]
runs/attribute.py: the head that is written is read again
    HeadFile.of(head).data => HeadFile.of(HeadFile.of(head).path).data
    unit/cli/test_inputs.py::test_the_head_that_is_written_is_the_one_that_was_explained[attribute]
runs/rules.py: the head that is written is read again
    HeadFile.of(head).data => HeadFile.of(HeadFile.of(head).path).data
    unit/cli/test_inputs.py::test_the_head_that_is_written_is_the_one_that_was_explained[rules]
runs/gap.py: the bound may be about another class
    (found := json.loads(document)["predicted"]) != released.certificate.predicted
    => (found := json.loads(document)["predicted"]) == -1
    unit/runs/test_gap.py::test_a_bound_about_another_class_is_not_this_images
runs/released.py: a certificate need not be about its image
    verdict = with_image.check(data)
    => pass
    unit/runs/test_gap.py::test_a_certificate_that_is_not_about_its_image_is_refused[gap]
runs/inputs.py: a link to latents may lead anywhere
    not lies_in(path, [link.parent]) => False
    unit/runs/test_inputs.py::TestLinks::test_what_lies_elsewhere_is_opened_only_if_it_is_given
runs/source.py: every file may be read
    lies_in(file, self.roots) => True
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[linked_files-csv]
runs/check.py: a number need not explain
    option not in found and _inside_of(neighbour.head, *some) and _inside_of(neighbour.head, *every)
    => option not in found
    unit/runs/test_check.py::test_a_bias_that_the_head_lacks_is_named
runs/comparison.py: wrong images are right
    int.__eq__ => int.__ne__
    unit/runs/test_check.py::test_how_many_images_are_right_is_said_where_labels_are_known[8-8-False]
runs/explain_model.py: nothing is to be audited
    not explained => False
    end_to_end/test_own_module.py::test_without_a_certificate_it_says_why_and_not_to_audit
runs/model_images.py: labels may be of no class
    not 0 <= label < head.classes => False
    unit/runs/test_check.py::test_labels_of_images_are_compared_with_the_networks_classes
runs/table.py: the rarest reasons are named
    -len(each[1]) => len(each[1])
    unit/runs/test_table.py::test_the_most_frequent_reasons_are_named

ray/audit.py: records need not be of this run
    any(record["run"] != run for record in records) => False
    unit/ray/test_resume.py::test_a_part_that_lies_is_audited_again[run]
ray/audit.py: records belong to names
    [(record["certificate"], record["sha256"]) for record in records] != now
    => [record["certificate"] for record in records] != [name for name, _ in now]
    unit/ray/test_resume.py::test_two_certificates_that_change_places_are_audited
ray/audit.py: the latents may change meanwhile
    latents is not None and latents.digest() != run["latents"] => False
    unit/ray/test_resume.py::test_latents_that_change_while_certificates_are_audited
ray/explain.py: on a cluster a default audit is not asked about
    audits.emitted(images, [result.explanation for result in results], [result.exact for result in results])
    => type(audits)(head, 2**60).emitted(images, [result.explanation for result in results])
    unit/ray/test_whole.py::test_both_engines_claim_what_a_default_audit_answers
ray/guard.py: workers import any verale
    found is not None and sources_digest(found) == sha256 => True
    unit/ray/test_guard.py::test_a_worker_that_would_import_other_sources_imports_none
ray/pipeline.py: Ray is started in the current folder
    chdir(nowhere()) => chdir(os.curdir)
    unit/ray/test_guard.py::test_ray_is_started_where_there_is_nothing_to_import

search/compiled/settings.py: numba is told by the current folder
    stack.enter_context(chdir(here)) => pass
    unit/search/test_compiled_settings.py::test_settings_of_the_current_folder_do_not_count[settings]
search/compiled/jit.py: machine code is taken from anywhere
    own_folder(folder) => folder
    unit/search/test_compiled_jit.py::test_machine_code_that_others_may_have_written_does_not_run
search/devices/jit.py: Triton's machine code is taken from anywhere
    _require_own_cache() => pass
    unit/search/test_devices_jit.py::test_machine_code_that_others_may_have_written_does_not_run
search/caches.py: a cache may lie in a stranger's folder
    not os.path.isabs(path) => False
    unit/search/test_compiled_jit.py::test_a_cache_in_the_current_folder_is_never_taken
search/caches.py: links are not followed
    os.path.realpath(path) => path
    unit/search/test_caches.py::test_a_link_is_followed_before_anything_is_asked
search/caches.py: others may write
    status.st_mode & 0o022 and not (status.st_mode & stat.S_ISVTX and not is_last)
    => status.st_mode & 0o020 and not (status.st_mode & stat.S_ISVTX and not is_last)
    unit/search/test_caches.py::test_a_folder_that_others_may_write_to_is_refused_wherever_it_stands[a-450]
search/caches.py: files may be anybody's
    not stat.S_ISREG(status.st_mode) or not _is_own(status) or written
    => not stat.S_ISREG(status.st_mode) or written
    unit/search/test_caches.py::test_files_that_others_may_have_written_are_refused
search/options.py: options may be of any kind
    require_kind(name, getattr(self, name), kind, expected) => pass
    end_to_end/test_python_arguments.py::test_explain_model_refuses_in_one_sentence[max_memory: numbers]

report/verdicts.py: a verdict of another head
    records.get((item.sha256, head or named))
    => next((r for (s, _), r in records.items() if s == item.sha256), None)
    unit/report/test_verdicts.py::test_a_verdict_is_for_the_same_head_only
report/verdicts.py: a verdict is about a head that came later
    outcome.record["run"]["head"] != digest => False
    unit/cli/test_inputs.py::test_a_report_is_about_one_head[1-options0]
report/page_check.py: the page asks about a head that came later
    head.sha256 != digest => False
    unit/cli/test_inputs.py::test_a_report_is_about_one_head[2-options1]
report/page_compare.py: the checker in a page may be any
    _inflated(there, here) != _inflated(here, here) => False
    unit/report/test_page_compare.py::test_a_forged_checker_is_refused_whatever_digest_the_page_gives
report/page_compare.py: a page may say anything of a certificate
    inflated != expected => False
    unit/report/test_page_compare.py::test_a_forged_page_is_refused[-the claim]
report/page_files/numbers.js: an end has a digit less than it needs
    return plain(decimal); => return plain(toDigits(value, Math.max(1, digits - 1), !upper));
    end_to_end/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-top_k]
report/page_files/numbers.js: upper ends are rounded outward
    toDigits(value, digits, !upper) => toDigits(value, digits, upper)
    end_to_end/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-projection]
report/page_files/detail.js: a clause names fewer prototypes than it exempts
    prototypesNamed(one.except) : => prototypesNamed(one.except.slice(1)) :
    end_to_end/test_page_is_proved.py::test_what_is_read_is_proved[exp_distance-top_k]
certificate/words.py: an end is told with three digits
    next(text for text, number in _shorter_first(value, ROUND_FLOOR) if number > before)
    => [text for _, (text, number) in zip(range(3), _shorter_first(value, ROUND_CEILING))][-1]
    end_to_end/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-top_k]
report/explanation.py: other prototypes are other than those that the clause exempts
    exempt == named => named is not None
    end_to_end/test_page_is_proved.py::test_what_is_read_is_proved[exp_distance-top_k]
report/shares.py: the better end of an activation counts
    ends.lower[prototype] if difference > 0 else ends.upper[prototype]
    => ends.upper[prototype] if difference > 0 else ends.lower[prototype]
    unit/report/test_shares.py::test_the_ledger_is_what_the_certificate_proves[euclidean-top_k]
report/page.py: images may lie anywhere
    collection.source.admits(item.file) => True
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[linked_files-html]
report/collect.py: images may lie anywhere
    load_source(source_path, None if images is None else Path(images)).within(*trusted)
    => load_source(source_path, None if images is None else Path(images))
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[absolute-csv]
report/images.py: images that are noted may lie anywhere
    not source.admits(noted) => False
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[absolute-html]
report/picture.py: lines are longer than a column is wide
    _LETTERS = 64 => _LETTERS = 640
    unit/report/test_picture.py::test_statements_end_before_the_next_column_and_the_edge[long]
report/picture.py: options of the current folder count
    rcdefaults() => pass
    unit/report/test_picture.py::test_no_option_of_a_strangers_folder_counts

report/telling.py: any head has the certificate's names
    head is None or head.sha256 != certificate.head => head is None
    end_to_end/test_show.py::test_of_another_head_nothing_is_told
report/compact.py: a figure says PROVED of anything
    f"{item.verdict}: class {predicted}" => f"PROVED: class {predicted}"
    unit/report/test_compact.py::test_what_is_not_audited_is_not_called_proved[top_k]
report/notebook.py: a notebook says PROVED of anything
    verdict.status.value.replace("_", " ") => "PROVED"
    unit/certificate/test_notebook.py::test_with_head_and_latents_it_is_audited_now
report/shown.py: what is claimed is called proved
    said.get(self.status, "Claimed, and not proved") => "Proved"
    end_to_end/test_show.py::test_what_does_not_follow_is_not_called_proved
report/single.py: an image outside is bound by its place
    item.image_note != OUTSIDE => True
    end_to_end/test_show.py::test_sentence_numbers_margins_size_image_and_verdict
certificate/words.py: an upper end is told with a digit less
    number > before => number > before - 1e-9
    unit/certificate/test_words.py::test_ends_are_read_back_as_they_are
certificate/words.py: a lower end is told with a digit less
    number < after => number < after + 1e-9
    unit/certificate/test_words.py::test_ends_are_read_back_as_they_are

cli/__init__.py: too little memory is a traceback
    MemoryError => ZeroDivisionError
    unit/cli/test_large_files.py::test_too_little_memory_is_one_line[read]
cli/tables.py: a digest is broken where it is piped
    sys.stdout.isatty() => True
    unit/cli/test_printing.py::test_no_digest_is_broken_where_a_table_is_piped
cli/tables.py: a cell may look like two
    map(one_field, cells) => map(lambda cell: cell.encode("unicode_escape").decode(), cells)
    unit/cli/test_printing.py::test_a_cell_is_not_two
cli/gap.py: another paradigm's bound is not told apart
    line if gap.is_smallest is not None else f"{line}; of those under {paradigm} nothing is proved" => line
    unit/runs/test_gap.py::test_what_is_under_another_paradigm_is_never_called_smallest
cli/cover.py: a name may look like what is said of it
    before_colon(covered.certificate) => covered.certificate
    unit/cli/test_printing.py::test_a_name_does_not_look_like_what_is_said_of_it[command1]
cli/show.py: what is shown is done
    sys.exit(result.outcome.exit_code) => sys.exit(0)
    end_to_end/test_show.py::test_what_is_no_certificate
cli/shared.py: nothing is said of claims
    if unclaimed:
        print_line(
            f"{unclaimed} do not claim minimality: by default an audit has too few steps to prove it; see {table}",
            sys.stderr,
        )
    => pass
    unit/runs/test_affordable.py::test_a_run_claims_no_minimality_that_its_audit_would_refuse
cli/audit.py: the code of the last
    most_severe(codes) => codes[-1]
    unit/cli/test_audit.py::test_lines_come_in_order_and_one_bad_file_stops_nothing
cli/audit.py: what cannot be read has no code
    codes.append(EXIT_UNUSABLE) => pass
    unit/cli/test_audit.py::test_what_holds_no_certificate_is_code_9_beside_what_is_proved
cli/audit.py: who interrupts has proved
    sys.exit(EXIT_INTERRUPTED) => sys.exit(0)
    unit/cli/test_audit.py::test_an_interrupt_leaves_a_report_that_is_taken_up_again
cli/audit.py: minimality is not asked for
    AuditOptions(head, latents, kernel, minimality, LIMIT if limit is None else limit, entailment_only, deployed)
    => AuditOptions(head, latents, kernel, False, LIMIT if limit is None else limit, entailment_only, deployed)
    unit/cli/test_audit.py::test_every_option_reaches_the_audit
cli/audit.py: what is not proved may be attested
    attestation is not None and code == 0 => attestation is not None
    unit/runs/test_attestation.py::test_nothing_is_attested_where_one_is_not_proved
cli/audit.py: the digest is that of what the file holds by now
    print_found(Inputs(used.head, used.latents), Inputs(head, latents), run["head"])
    => print_found(
        Inputs(used.head, used.latents),
        Inputs(head, latents),
        __import__("verale.runs.inputs").runs.inputs.sha256_of(used.head),
    )
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[audit]
cli/ray_engine.py: the digest is that of what the file holds by now
    run.head => __import__("verale.runs.inputs").runs.inputs.sha256_of(found_head)
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[ray]
cli/inputs.py: the digest is that of what the file holds by now
    print_line(f"head {used.head}, sha256 {sha256}", sys.stderr)
    => print_line(f"head {used.head}, sha256 {HeadFile.of(str(used.head)).sha256}", sys.stderr)
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[cover]
cli/report.py: a page that is compared is not
    require_same(target, data) => pass
    unit/report/test_page_compare.py::test_a_forged_page_is_refused[-a picture]
cli/head.py: the first of several is suggested
    len(found) > 1 => False
    unit/cli/test_head.py::test_a_state_that_fits_two_networks_is_not_guessed
cli/certificates.py: two names may be one file
    normalize("NFKC", name).casefold() => name
    unit/datasets/test_certificates.py::test_names_that_are_one_on_some_systems_are_refused

adapters/telling.py: another network's state is taken
    name not in sign.names => False
    unit/adapters/test_telling.py::test_a_refusal_names_the_tensor_and_the_right_network
adapters/published/__init__.py: prototypes outside are not told
    outside is not None => False
    unit/adapters/test_telling.py::test_prototypes_of_ones_own_network_outside_the_domain_are_told
adapters/published/genetic.py: an option is asked for before the tensors
    prototypes = kernels(state, "prototype_vectors")
    => if patches is None:
        raise UsageError("option patches")
    prototypes = kernels(state, "prototype_vectors")
    unit/adapters/test_telling.py::test_what_is_no_receptive_field_states_nothing[field5]
adapters/cabrnet/heads.py: prototypes of a run are not looked at
    outside is not None => False
    unit/cli/test_head.py::test_prototypes_of_a_run_are_looked_at_too
adapters/endings.py: what follows a layer's end is its end
    [module for module in layer if type(module) not in _UNCHANGED] => [module for module in layer]
    unit/adapters/test_endings.py::test_the_last_module_that_changes_numbers_counts
adapters/latents.py: calls may be anything
    type(calls) is not int or calls < 1 => False
    unit/runs/test_check.py::test_what_cannot_be_compared
adapters/neighbours.py: the worst number is fitted
    min(range(_STEPS + 1), key=lambda at: off(start + at * step))
    => max(range(_STEPS + 1), key=lambda at: off(start + at * step))
    unit/runs/test_check.py::test_the_epsilon_of_a_cosine_is_fitted
adapters/checkpoint.py: a number is a path
    require_path(path, "load_state(path)") => pass
    end_to_end/test_python_arguments.py::test_checkpoints_are_paths_and_options_of_their_kinds[numbers]
"""

"""The faults of `support.outside`, each in a file of `verale`: somebody believes a verdict, a claim, a class, a number
or a digest that nobody proved, or a stranger's code runs. The tests of all else need no planted faults.

FILE FUNCTION: WHAT IS WRONG THEN
    the change, as `support.syntax.changed` takes it, on as many lines as it needs; in JavaScript OLD => NEW
    the one test below `tests` that has to detect it
"""

from __future__ import annotations

TABLE = r"""
datasets/footer.py open_parquet: types that unpickle are read
    never _names_what_runs(_footer(stream))
    unit/datasets/test_footer.py::test_a_column_of_pickles_is_refused[certificate-type]

datasets/footer.py chunks_of: a footer may say less than there is
    never [len(group) for group in chunks] != [footer.num_columns] * footer.num_row_groups
    unit/datasets/test_footer.py::test_chunks_that_pyarrow_counts_otherwise_are_refused
report/collect.py Collection._network_named: the fields of whatever network lies beside are those of the named one
    beside.sha256 == network => True
    unit/report/test_collect.py::test_another_network_beside_does_not_count
report/page.py of_fields: what source.json notes is told as the checker's
    fields is not None and fields.by_checker => fields is not None
    unit/report/test_page.py::test_fields_that_the_checker_computed_are_told_from_those_that_are_noted
report/verdicts.py _told: an origin that is not proved is told as one that is
    never not judged.by
    unit/report/test_verdicts.py::test_what_is_not_proved_is_never_told_as_proved[euclidean]
report/collect.py Collection.origin_of: a patch of another network's grid is outlined
    told.network != network => False
    unit/report/test_verdicts.py::test_a_caption_stands_beside_the_picture_and_its_patch_alone[euclidean]
report/page.py page: the caption stands beside whatever picture there is
    told.caption if j in training.parts else told.sentence => told.caption
    unit/cli/test_origins.py::test_without_its_picture_the_sentence_names_it
report/verdicts.py _told: a prototype is whatever patch is nearest
    (_NEAR * origin.distance) ** 2 <= length => True
    unit/report/test_verdicts.py::test_a_projected_prototype_is_the_patch_and_another_one_is_not_shown_to_be[euclidean-arb-arb]
report/verdicts.py _told: a prototype is whatever direction is nearest
    origin.cosine >= _LEAST_COSINE => True
    unit/report/test_verdicts.py::test_a_projected_prototype_is_the_patch_and_another_one_is_not_shown_to_be[cosine-arb-arb]
runs/audit.py origins_auditor: the head is read again
    auditor_of(setup, file.data) => auditor_of(setup)
    unit/report/test_verdicts.py::test_the_head_that_was_read_counts[euclidean]
runs/audit.py judged_origins: nothing is asked of the checker
    judge_origins(auditor, read(path, 'an origins file', LARGEST + 1)) => ()
    unit/report/test_verdicts.py::test_a_projected_prototype_is_the_patch_and_another_one_is_not_shown_to_be[euclidean-arb-arb]
cli/origins.py audit_origins: an origin that is not proved changes no code
    most_severe(codes) => 0
    unit/cli/test_origins.py::test_what_is_changed_is_not_proved[distance]
cli/origins.py audit_origins: a file about another head is passed over
    codes.append(whole.exit_code) => codes.append(0)
    unit/cli/test_origins.py::test_about_another_head_nothing_is_proved
report/verdicts.py origins_beside: origins of another head than the certificate's are told
    never named not in (None, head.sha256)
    unit/cli/test_origins.py::test_show_says_nothing_of_another_heads_prototypes
runs/origins.py SearchedPictures.keep: a photograph that was changed meanwhile is kept in place of the one proved
    never shown.picture(0).digest != named[file]
    unit/runs/test_origins.py::test_a_photograph_that_is_changed_meanwhile_is_not_kept
runs/origins.py OriginSearch._resumed: what was found for another head or network is taken
    same = (document['head'], document['network']) == (self._file.sha256, self._network.digest) => same = True
    unit/runs/test_origins.py::test_what_was_found_among_other_pictures_or_for_another_head_is_not_taken[head]

datasets/rows.py ParquetRows.open: parts of a dataset lie anywhere
    SentFile(info.path, folder) => info.path
    end_to_end/test_links_in_folders.py::test_parts_of_a_dataset_lie_in_its_folder
report/single.py single: a head that nobody compared looks like one that was
    own and head is not None and (not head.compared) => False
    unit/cli/test_head.py::test_explain_and_show_tell_which_head_was_compared[h]
cli/head.py compare: a head that is not the network's is marked all the same
    never not comparison.agrees
    unit/cli/test_head.py::test_explain_and_show_tell_which_head_was_compared[h]
runs/capture.py write_of_run: logits of the head are taken for the network's
    captured.logits => network.head.logits(captured.latents).float()
    end_to_end/test_cabrnet_runs.py::test_latents_of_a_run_have_the_networks_own_logits
runs/explain_model.py _compared: a head that is not the model's is marked all the same
    never not comparison.agrees
    unit/cli/test_head.py::test_the_head_of_a_model_is_marked_where_it_is_the_models
runs/check.py _shifted: any differences of logits are the head's
    _ROUNDING * (logs.abs() + 4) => logs.abs() + 4
    unit/runs/test_check.py::test_of_outputs_that_leave_differences_these_are_compared[0.01-softmax(logits)]
runs/check.py restored: any output is a logarithm
    logits * _ROUNDING * (outputs.abs() + 4) => logits * (outputs.abs() + 4)
    unit/runs/test_check.py::test_a_logarithm_keeps_the_order
adapters/published/pipnet.py arguments: the threshold is not that of the call
    isinstance(head.similarity, Threshold) => True
    unit/adapters/test_original.py::test_the_threshold_decides_how_pipnet_is_called
runs/audit_log.py subject_of: a verdict belongs to a name
    [digest, run] => [run]
    unit/runs/test_audit.py::test_an_outcome_is_known_for_the_same_bytes_and_run
runs/audit_log.py subject_of: a verdict belongs to any run
    [digest, run] => [digest]
    unit/runs/test_audit.py::test_an_outcome_is_known_for_the_same_bytes_and_run
runs/audit_log.py read_records: two verdicts on the same bytes
    never verdicts.setdefault(subject, verdict) != verdict
    unit/runs/test_audit.py::test_a_log_with_two_verdicts_on_the_same_bytes_is_refused_and_left_alone
runs/audit_log.py read_records: a report reads a log that contradicts itself
    never verdicts.setdefault(subject, verdict) != verdict
    unit/report/test_verdicts.py::test_a_log_that_contradicts_itself_is_refused
runs/audit_log.py AuditLog.known: a record that was put in another's place counts
    never subject_of(record['sha256'], record['run']) != subject
    unit/runs/test_audit.py::test_an_outcome_is_known_for_the_same_bytes_and_run
runs/audit_log.py AuditLog.known: a taken verdict looks new
    {'certificate': name_of(path), 'reused': True} => {'certificate': name_of(path)}
    unit/runs/test_audit.py::test_an_outcome_is_known_for_the_same_bytes_and_run
runs/audit_log.py _object: a key may repeat
    never len(value) != len(pairs)
    unit/runs/test_audit.py::test_a_repeated_key_is_refused
runs/audit_log.py _contradiction: the code need not be the reason's
    always record['exit_code'] == _exit_code(record)
    unit/runs/test_audit.py::test_the_line_is_named
runs/audit_log.py _contradiction: a claim that was asked for is not checked
    always status != 'PROVED' or proved == _asked(claims, run)
    unit/runs/test_audit.py::test_a_field_of_another_value_is_refused[claims]
runs/audit_log.py _contradiction: minimality proved unasked
    always 'minimality' not in proved or (run['minimality'] and (status == 'PROVED' or reason in _AFTER_MINIMALITY))
    unit/runs/test_audit.py::test_a_verdict_that_is_not_proved_does_not_contradict_itself_either
runs/audit.py audit: a certificate need claim no instance
    audit_options(options, fields) => audit_options(options, fields | {'entailment_only': True})
    unit/runs/test_audit.py::test_a_certificate_without_an_instance_claim_is_accepted_only_where_that_is_asked
cli/audit.py command.refuse: certificates whose head cannot be used are passed over
    without codes.append(Exit.UNUSABLE)
    end_to_end/test_one_reader.py::test_a_head_that_cannot_be_used_costs_its_own_folder_alone
runs/images.py classes_of_folders: the first folder is the first class, whatever its name
    classes_named(names, folders) => {each: [index] for index, each in enumerate(folders)}
    unit/runs/test_images.py::test_the_class_of_a_folder
runs/images.py classes_named: another number before a name is as good
    other == number or None in (other, number) => True
    unit/runs/test_images.py::test_a_folder_of_no_class_is_an_error
runs/images.py classes_named: two numbered folders are one class
    any((times[index] > 1 for index in matched[name])) => False
    unit/runs/test_images.py::test_a_folder_of_no_class_is_an_error
runs/images.py classes_of_folders: a folder of no class is the first
    _only(folder, each, found, names) => (found or [0])[0]
    unit/runs/test_images.py::test_a_folder_of_no_class_is_an_error
runs/images.py FolderClasses.tell: folders are read without a word
    _log.warning('%s', self.reading) => pass
    unit/runs/test_images.py::test_nothing_but_names_is_read_without_a_word
runs/capture.py classes_of_trained: numbers of folders are those of classes, though CaBRNet counted otherwise
    network.head.labels or network.trained_classes => network.head.labels
    end_to_end/test_cabrnet_runs.py::test_folders_are_the_classes_that_they_were_in_the_training_set
runs/images.py readable: images that cannot be read are left out unasked
    never unreadable and not (skip and taken)
    end_to_end/test_cabrnet_runs.py::test_all_images_that_cannot_be_read_are_named_before_the_first_is_explained
pictures.py opened: grey of 16 bits is clipped to white
    never image.mode[0] in 'IF'
    end_to_end/test_cabrnet_runs.py::test_all_images_that_cannot_be_read_are_named_before_the_first_is_explained
runs/images.py readable: pictures are shown as the camera was held, or not, without a word
    tell_turned(turned) => pass
    end_to_end/test_cabrnet_runs.py::test_an_orientation_is_told_and_not_applied
cli/explain.py command: what was left out is as good as explained
    Exit.SKIPPED if run.skip_unreadable else Exit.UNUSABLE => 0
    unit/runs/test_seen.py::test_pictures_that_cannot_be_used_are_listed_at_the_end_where_that_was_asked
runs/seen.py SeenPictures.of: the names of pictures that cannot be used stand for others
    tuple(kept) => tuple(files.names)
    end_to_end/test_one_reader.py::test_a_picture_that_cannot_be_used_is_named_and_the_others_are_explained
runs/audit.py outcome_of: what cannot be read is proved
    unusable(path.name, str(error), auditor.run)
    => Outcome(unusable(path.name, str(error), auditor.run).record | {'exit_code': 0})
    unit/runs/test_audit.py::test_a_stored_certificate_that_cannot_be_read_stops_nothing
runs/audit.py outcome_of: a stored certificate is read as a file
    without data
    unit/runs/test_audit.py::test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name
runs/audit.py in_processes: a head may change meanwhile
    never outcome.record['run'] != run
    unit/runs/test_audit.py::test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit
runs/audit.py in_processes: what killed a process is proved
    unusable(name_of(path), DIED, run)
    => __import__('verale').checker.file_auditor.Outcome(unusable(name_of(path), DIED, run).record | {'exit_code': 0})
    unit/runs/test_audit.py::test_a_process_that_dies_costs_one_certificate
runs/workers/local.py _fresh: processes import what lies in the current folder
    [sys.executable, '-P', '-c', _PROGRAM, json.dumps(sys.path)]
    => [sys.executable, '-c', _PROGRAM, json.dumps(sys.path)]
    end_to_end/test_strangers_folder.py::test_audits_in_several_processes
runs/parts.py rows_and_certificates: margins are rounded to the nearest
    float_below(explanation.margin) => float(f'{explanation.margin:.4g}')
    end_to_end/test_own_numbers.py::test_margins_of_tables_are_rounded_down
search/through.py ThroughNetwork.evaluated: the class of a picture is that of the middle of its box
    as_patches(self.latents(picture)) => ((ends := self.ranges(picture).ends).lower + ends.upper)[None] / 2
    unit/runs/test_seen.py::test_a_table_gives_the_classes_and_scores_of_the_network_itself
search/through.py ThroughNetwork.evaluated: a picture gets a class where the head does not describe the network
    without check_domain(head, latents)
    unit/runs/test_seen.py::test_what_the_head_does_not_describe_has_neither_class_nor_score
search/batches.py Batches._within: numbers beyond float64 get a class
    exact.take([image]).is_finite => True
    unit/search/test_explain.py::test_numbers_beyond_float64_are_no_tie_and_give_no_class
search/batches.py Batches._unsettled: numbers beyond float64 are called a tie
    image.is_finite => True
    unit/search/test_explain.py::test_numbers_beyond_float64_are_no_tie_and_give_no_class
bounds/deep.py deep_latents: a network that is not enclosed is told as a class that is not certain
    _ROUGH.format(rule.layer, error) => ''
    unit/search/test_through.py::test_a_network_that_is_not_enclosed_is_told_as_such
bounds/fixed_point.py FixedPoint._without: what is cut off is not added to what is not known
    (self.radius + 2.0 ** (-places)) * UP => self.radius
    unit/bounds/test_fixed_point.py::test_sums_products_and_maxima_hold_all_that_they_may_be[0-12]
bounds/fixed_point.py FixedPoint.summed: weights that are cut off are taken for exact
    0.0 if exact else columns.terms * most * 2.0 ** (self.places - cut * width - at) * UP => 0.0
    unit/bounds/test_fixed_point.py::test_a_layers_sums_are_held_by_its_numbers[1-17-plain]
bounds/fixed_point.py most_terms: partial sums may round
    _LARGEST_BITS - 2 * width + 2 => _LARGEST_BITS - 2 * width + 5
    unit/bounds/test_fixed_point.py::test_no_sum_of_the_greatest_digits_rounds[20]
bounds/fixed_point.py FixedPoint.greater: centres decide which number is greater
    difference.abs() * (1 - 2 * NEAREST) > (self.radius + other.radius) * UP => is_first | ~is_first
    unit/bounds/test_fixed_point.py::test_sums_products_and_maxima_hold_all_that_they_may_be[0-12]
bounds/deep.py Smooth.of: a function is taken to be as flat as where it is computed
    torch.minimum(steepest + given.radius * self.bend, torch.ones_like(nearest)) => steepest
    unit/bounds/test_deep.py::test_a_smooth_function_holds_all_that_it_may_be[60-0.5-Sigmoid]
adapters/accounts.py require_explained: a tensor that an architecture does not explain is passed over
    (*reading, *entries) => entries
    unit/adapters/test_accounts.py::test_a_tensor_that_no_architecture_has_is_named
adapters/accounts.py require_explained: a whole model of another class is taken
    never kind is not None and kind not in saved.classes
    unit/adapters/test_accounts.py::test_what_an_architecture_does_not_explain_is_refused_by_name
adapters/accounts.py _of_model: the attributes of a whole model are passed over
    never key != 'training' and value is not None
    unit/adapters/test_accounts.py::test_what_a_whole_model_says_is_held_against_the_architecture
adapters/checkpoint.py _archive: of two archives in one file another is read than torch reads
    without require_one_reading(data, archive)
    unit/adapters/test_modules.py::test_an_archive_with_several_readings_is_refused
head/geometry.py Cosine.observables: the logits shown of tiny and huge prototypes are those of no network
    points / _power_below(points) => points
    unit/head/test_geometry.py::test_cosines_are_those_of_vectors_of_any_size
adapters/cabrnet/building.py _dtype: CaBRNet may evaluate what a configuration names as a type
    never not isinstance(name, str) or name not in _DTYPES
    end_to_end/test_cabrnet_runs.py::test_what_verale_does_not_let_cabrnet_build_is_refused
adapters/cabrnet/building.py _enlarges: a layer may pool to a grid of any size
    always all((type(side) is int and 1 <= side <= _LARGEST_GRID for side in sizes))
    end_to_end/test_cabrnet_runs.py::test_what_verale_does_not_let_cabrnet_build_is_refused
adapters/cabrnet/network.py _normalisation: a network file leaves out what follows the conversion
    never not numbers or len(numbers) > 2 or (not set(numbers) <= _CONVERSIONS)
    end_to_end/test_cabrnet_runs.py::test_a_transform_that_does_more_to_numbers_is_no_network_file
adapters/composites.py clamped: the greatest number that is let through is the least
    (-1.0, upper or 0.0) => (1.0, upper or 0.0)
    unit/adapters/test_operations.py::test_what_several_layers_compute_is_frozen_as_these
adapters/composites.py sloped: what lies below 0 gets another sign
    scaled(shape, -slopes) => scaled(shape, slopes)
    unit/adapters/test_operations.py::test_what_several_layers_compute_is_frozen_as_these
adapters/composites.py layer_norm: the mean stays where it was
    Step('centred', Sum(), (0, 'everywhere')) => Step('centred', Sum(), (0, 0))
    unit/adapters/test_operations.py::test_what_several_layers_compute_is_frozen_as_these
adapters/operations.py _maximum: zeros are said to lie on the other sides
    (0, right, 0, below) => (0, below, 0, right)
    unit/adapters/test_operations.py::test_windows_beyond_the_padding_are_written_with_zeros_behind_a_relu
adapters/operations.py _moved: numbers in other places are taken for channels that are chosen
    torch.equal(moved, places[:, channels]) => True
    unit/adapters/test_operations.py::test_what_no_layers_compute_is_refused
adapters/float32.py _mean: a mean is not rounded in float32
    _widened(mean, _gamma(count + 1) * _size(ranges).mean(0, keepdim=True) + 2 * _UNDERFLOW) => mean
    unit/adapters/test_float32.py::test_computed_activations_and_logits
adapters/operations.py _normalisation: float32 is claimed of any epsilon
    float(torch.tensor(epsilon).float()) < _LEAST_EPSILON => False
    unit/adapters/test_freezing.py::test_what_float32_claims_exclude_is_told_and_the_file_says_so[epsilon]
adapters/operations.py unclaimed_number: float32 is claimed of numbers that it rounds before they are folded
    name != 'factor' and not torch.equal(tensor.float().to(tensor.dtype), tensor) => False
    unit/adapters/test_freezing.py::test_what_float32_claims_exclude_is_told_and_the_file_says_so[double]
adapters/freezing.py _magnitude: a file does not say what is excluded
    sizes.clamp(min=NOT_CLAIMED) => sizes
    unit/adapters/test_freezing.py::test_what_float32_claims_exclude_is_told_and_the_file_says_so[epsilon]
search/through.py ThroughNetwork.__post_init__: float32 is explained of a network that excludes it
    without require_binary32(self.network)
    unit/cli/test_network.py::test_a_file_of_which_nothing_is_claimed_in_float32_is_told_so
network/network.py _why_not: a magnitude says nothing
    never _greatest(operation.magnitude, operation.weight) > GREATEST_FOLDED
    unit/network/test_network.py::test_what_a_file_excludes_is_refused_with_layer_value_and_remedy
bounds/network.py _computed: what float32 rounds of a layer's sums is left out
    radius + sizes[0] * share => radius
    unit/bounds/test_network.py::test_a_box_holds_what_torch_gives_and_the_checkers_box[0-one layer]
bounds/network.py _computed: what is not known of what a layer reads is not passed on by its sums
    radius + sizes[0] * share => sizes[0] * share
    unit/bounds/test_network.py::test_a_box_holds_what_torch_gives_and_the_checkers_box[0-residual]
bounds/network.py _computed: what rises is known from the middle of what it reads
    operation(centre + radius) => operation(centre)
    unit/bounds/test_network.py::test_a_box_holds_what_torch_gives_and_the_checkers_box[0-residual]
bounds/network.py _require: what may overflow in float32 is known
    never not holds
    unit/bounds/test_network.py::test_numbers_that_may_overflow_in_float32_are_not_known_there_and_told
runs/seen.py SeenPictures.latents: latents are rounded out of what is stated of them
    self.through.latents(picture) => self.through.latents(picture).float()
    unit/runs/test_seen.py::test_a_runs_statements_are_true_of_its_own_latents
runs/compare.py RunComparison.__iter__: a class that is not known is another class
    a.predicted is not None and b.predicted is not None => True
    unit/runs/test_seen.py::test_what_the_head_does_not_describe_has_neither_class_nor_score
runs/compare.py RunComparison._asked: what is not decided is false
    tuple(each.true for each in there) => tuple(bool(each.true) for each in there)
    unit/runs/test_compare.py::test_what_is_not_decided_is_neither_kept_nor_failed
runs/compare.py RunComparison._asked: statements are decided at A's latents
    other.certificate.latents or self.b.latents(second) => one.certificate.latents
    unit/runs/test_compare.py::test_what_cannot_be_compared_is_named[other latents]
runs/explained_run.py ExplainedRun.stated: a certificate may have changed
    never row.sha256 not in (None, hashlib.sha256(data).hexdigest())
    unit/runs/test_compare.py::test_what_cannot_be_compared_is_named[a changed certificate]
runs/theorem.py theorem_file: a name of a certificate hides a theorem of the theories
    _INSTANCE => _INSTANCE.replace('Verale.Classified.', '')
    unit/runs/test_theorem.py::test_no_name_of_a_certificate_hides_one_of_the_theories
runs/terms.py _written: a theorem is about other numbers
    f"(-{digits})" => digits
    unit/runs/test_terms.py::test_an_image_is_its_rows
runs/audit.py _require_proved_now: a verdict from a log is attested
    never outcome.reused
    unit/runs/test_attestation.py::test_no_statement_is_made_of_a_record_that_is_no_proof[{'reused': True}]
runs/audit.py _add: a file may change
    subjects.setdefault(name, subject) != subject => not subjects.setdefault(name, subject)
    unit/runs/test_attestation.py::test_no_statement_is_made_of_a_file_that_changed[head]
report/page.py _notes: pictures that were made from other files are told as these files
    never collection.source.decoded
    unit/runs/test_seen.py::test_a_page_says_what_is_not_proved
runs/audit_log.py _contradiction: a picture is proved in no arithmetic, or latents in one
    always ('picture' in claims) == (record.get('arithmetic') is not None) or 'arithmetic' not in record
    unit/runs/test_audit.py::test_a_picture_is_proved_in_an_arithmetic
runs/audit.py _properties: what is proved of some pictures in float32 is a property of all
    len(ways) == 1 => way == 'float32'
    unit/runs/test_attestation.py::test_the_arithmetic_of_pictures_is_a_property_where_all_have_the_same
runs/audit.py _properties: a claim of one is a property of all
    all(_is_proved(r, claim) for r in records) => any(_is_proved(r, claim) for r in records)
    unit/runs/test_attestation.py::test_one_certificate_without_a_claim_takes_the_property_away
runs/arguments.py auditor_for: the checker reads a head again
    head.data => read(head.path, 'a head file')
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[gap]
runs/rules.py CoveringAudits.of: images that a screen proposes are covered, and rules count them
    tuple((index for index, audit in said.items() if audit.is_proved)) => tuple(said)
    unit/runs/test_rules.py::test_images_count_that_the_checker_proves_whatever_a_screen_says
runs/rules.py fit_rules: a rule that is not proved has the margin that it states
    record['margin'] if record['status'] == Status.PROVED.value else None => float(certificate.margin)
    unit/runs/test_rules.py::test_a_rule_that_is_not_proved_is_said_to_be_none
runs/necessity.py gap: the bound may be about another class
    (found := json.loads(document)['predicted']) != released.certificate.predicted
    => (found := json.loads(document)['predicted']) == -1
    unit/runs/test_contrast.py::test_a_bound_about_another_class_is_not_this_images
runs/necessity.py gap: the proved checker is said to prove the bound
    Gap(released.certificate, least, by, document) => Gap(released.certificate, least, PROVED, document)
    unit/runs/test_contrast.py::test_how_small_an_explanation_can_be
runs/necessity.py necessity: a statement without a witness is said to be unneeded
    Needed(number, None) => Needed(number, False)
    unit/runs/test_contrast.py::test_without_a_witness_it_is_open_what_is_needed
runs/contrast.py _Search._wins: a class wins where another one is first
    proof.predicted != self.goal => proof.predicted == certificate.predicted
    unit/runs/test_contrast.py::test_a_class_does_not_win_by_passing_only_the_predicted_one
runs/refute.py Released.margins: sets are excluded by what all statements prove
    self.auditor.numbers(rest.to_bytes()).margins => self.certificate.margins
    unit/runs/test_contrast.py::test_several_statements_where_fewer_are_not_enough[6-10-2]
runs/refute.py opened: a certificate need not be about its image
    without verdict = with_image.check(data)
    unit/runs/test_contrast.py::test_a_certificate_that_is_not_about_its_image_is_refused
files.py _require_replaceable: a link is replaced by a file
    never path.is_symlink()
    unit/test_files.py::test_a_link_is_neither_written_through_nor_replaced
files.py append_bytes: text is added to what a link leads to
    os.O_WRONLY | os.O_APPEND | getattr(os, 'O_NOFOLLOW', 0) => os.O_WRONLY | os.O_APPEND
    unit/test_files.py::test_a_link_is_neither_written_through_nor_replaced
files.py _temporary_file: any file of the temporary name is removed
    never not begun.startswith(read(temporary, 'a temporary file', most=LARGEST_LATENTS))
    unit/test_files.py::test_a_temporary_file_of_a_known_name_is_the_beginning_of_its_data_or_in_the_way
runs/written.py WrittenFiles.is_ours: a file that was changed is still ours
    always digest in {one.sha256 for one in noted}
    unit/runs/test_written.py::test_a_file_is_noted_and_replaced_as_long_as_it_is_as_it_was
runs/written.py WrittenFiles.is_ours: a file that another command noted is ours
    never noted[0].by != by
    unit/runs/test_written.py::test_each_command_has_its_own_files
runs/written.py WrittenFiles.obstacle: links are followed
    os.lstat(path) => os.stat(path)
    unit/runs/test_written.py::test_nothing_is_written_through_links[False-folder/a-a link to a folder]
runs/written.py WrittenFiles.write: a file of somebody else is replaced
    never not self.is_ours(name, by)
    unit/runs/test_written.py::test_a_file_is_noted_and_replaced_as_long_as_it_is_as_it_was
runs/written.py WrittenFiles.write: a file of somebody else with the right bytes becomes ours
    without if self.holds(name, data): return None
    unit/runs/test_written.py::test_the_same_bytes_of_somebody_else_stay_and_are_not_ours
runs/written.py WrittenFiles.write: a file is noted once it is written
    self.note(name, digest, by)
    self._measured.pop(name, None)
    return self._put(name, data, f'.{digest}.partial')
    => stamp = self._put(name, data, f'.{digest}.partial')
    self.note(name, digest, by)
    return stamp
    unit/runs/test_written.py::test_an_interruption_at_any_step_loses_nothing_and_is_gone_on_with[None-explain-explain]
runs/written.py WrittenFiles.append: added text is noted once it is written
    _Noted(name, after.hexdigest(), noted[-1].by, size, text.decode()) => _Noted(name, after.hexdigest(), noted[-1].by)
    unit/runs/test_written.py::test_a_file_to_which_text_is_added_is_ours_at_every_length
runs/written.py WrittenFiles._is_growing: any text may follow
    always text.startswith(data[size:])
    unit/runs/test_written.py::test_a_file_to_which_text_is_added_is_ours_at_every_length
runs/written.py WrittenFiles._measure: text is added to a file that was changed
    never not self.is_ours(name)
    unit/runs/test_written.py::test_a_table_that_was_changed_gets_no_text
runs/written.py WrittenFiles._measure: text is added to a copy by a hard link
    never not self._has_one_name(name)
    unit/runs/test_written.py::test_what_has_another_name_is_not_changed_by_what_is_added[table]
runs/written.py WrittenFiles._load: names are added to a copy by a hard link
    is_whole and self._has_one_name(FILES) => is_whole
    unit/runs/test_written.py::test_what_has_another_name_is_not_changed_by_what_is_added[files.json]
runs/written.py WrittenFiles.settle: a table stays ours while it grows for ever
    one = len(noted) == 1 and noted[0].added is None => one = True
    unit/runs/test_written.py::test_a_file_to_which_text_is_added_is_ours_at_every_length
runs/written.py WrittenFiles.require_room: a run begins though a file was changed that it would remove
    without self._require_removable(set(self.names()) - set(kept), inputs)
    unit/runs/test_written.py::test_nothing_goes_before_all_is_known_to_be_as_it_was
runs/written.py WrittenFiles.require_free: a run begins though a file of somebody else is in its way
    overwrite and self.is_ours(name) => overwrite
    unit/runs/test_explain.py::test_results_replace_no_file_of_somebody_else[True-rules.json]
runs/written.py WrittenFiles._require_removable: a file that the run reads is removed
    never identity_of(self.directory / name) in read_now
    unit/runs/test_written.py::test_nothing_goes_before_all_is_known_to_be_as_it_was
runs/written.py WrittenFiles.remove_temporaries: every temporary file is ours
    always match[1] in digests
    unit/runs/test_source.py::test_halves_that_a_killed_process_left_are_removed
runs/written.py _Noted.read: names lead out of the folder
    never {'.', '..'} & {*name.split('/')}
    unit/runs/test_written.py::test_names_that_verale_did_not_write_are_refused[a way out]
runs/written.py _parsed: any file may have been the list of names
    never not data.startswith(_HEADING)
    unit/runs/test_written.py::test_names_that_verale_did_not_write_are_refused[no list]
runs/folder.py ResultFolder.write: results are written before all have room
    kept = self._kept(written, files) => kept = []
    unit/runs/test_explain.py::test_results_replace_no_file_of_somebody_else[True-mine.ale.json]
runs/folder.py Journal.of: what another search found is taken over
    never first != heading
    unit/runs/test_rules.py::test_an_interrupted_search_goes_on[attribute]
runs/folder.py ResultFolder._replaces: results of something else go with unfinished ones
    always {*noted} <= {self._journal, *self._names}
    unit/runs/test_rules.py::test_results_that_an_interruption_left_unfinished_are_written_again
runs/folder.py ResultFolder._replaces: whole results go with what a later search has noted
    has_older = self._names[0] in before and written.exists(self._names[0]) => has_older = False
    unit/runs/test_rules.py::test_results_that_an_interruption_left_unfinished_are_written_again
runs/origins.py OriginSearch._are_places: places that no picture has are taken over
    return bool((inside | (places == -1).all(1)).all()) => return True
    unit/runs/test_origins.py::test_nothing_that_a_noted_search_says_is_stated_unproved
search/several.py require_fitting: what explains another image is told of this one
    never certificate != expected
    unit/runs/test_rules.py::test_an_interrupted_search_goes_on[attribute]
runs/folder.py pictures_in: pictures of somebody else become a run's
    return [name for name in names if name not in needed] => return []
    end_to_end/test_nothing_is_lost.py::test_pictures_of_an_earlier_run_and_others
runs/folder.py folder_in: a folder of a folder may be a link
    never (directory / name).is_symlink()
    end_to_end/test_nothing_is_lost.py::test_a_demo_replaces_nothing_either[certificates-a link to a folder]
runs/explain.py open_run: pictures are copied among themselves
    without seen.require_apart(directory)
    end_to_end/test_nothing_is_lost.py::test_pictures_are_not_copied_among_themselves
runs/explain.py open_run: a run goes on with another head
    without written.require_kept(needed)
    unit/runs/test_source.py::test_another_head_or_other_latents_stay_where_they_are[head.safetensors-True]
runs/explain.py ExplainRun.__init__: a certificate that was changed is explained again
    never not files.is_ours(name)
    unit/runs/test_explain.py::test_what_was_changed_is_named_and_stays[000003.ale.json-<lambda>0]
runs/explain.py ExplainRun.__init__: a table that was changed is replaced
    never files.exists(TABLE) and not files.is_ours(TABLE)
    unit/runs/test_explain.py::test_what_was_changed_is_named_and_stays[explanations.csv-<lambda>1]
runs/capture.py captured_before: latents that were changed are captured again
    never not is_same
    end_to_end/test_nothing_is_lost.py::test_what_was_captured_and_changed_stays[latents.safetensors]
runs/folder.py require_output: an input is replaced
    path.is_file() and source.exists() and path.samefile(source) => False
    unit/runs/test_written.py::test_an_output_that_would_be_a_loss[same-is]
runs/folder.py require_output: an input has one name
    path.samefile(source) => path == source
    unit/runs/test_written.py::test_an_output_that_would_be_a_loss[same-is]
runs/folder.py require_output: a file of a run is replaced
    never noted is not None and (by is None or noted[2] != by)
    unit/runs/test_written.py::test_a_command_may_replace_what_it_noted_itself
runs/folder.py _require_no_part_of_run: a file becomes one of a run's
    never name in _OF_RUN or name.startswith(f'{PICTURES}/') or is_certificate
    unit/runs/test_written.py::test_an_output_that_would_be_a_loss[out/000009.ale.json-would]
runs/audit_log.py AuditLog.__init__: a log becomes a file of a run
    without require_output(path, inputs)
    end_to_end/test_nothing_is_lost.py::test_no_output_replaces_what_is_needed[audit two --log run/source.json-]
runs/listed.py require_distinct: results of two certificates have one name
    never name in seen and Path(seen[name]).resolve() != Path(file).resolve()
    end_to_end/test_nothing_is_lost.py::test_two_certificates_of_one_name_do_not_replace_each_other
runs/source.py Source.admitted: every file may be read
    SentFile(real, around[0]) if around and real is not None else None => file
    unit/report/test_outside.py::test_nothing_outside_is_read_or_shown[linked_files-csv]

runs/workers/ray.py Worker.__init__: workers import any verale
    always found is not None and sources_digest(found) == sha256
    unit/ray/test_ray.py::test_a_worker_that_would_import_other_sources_imports_none
runs/workers/ray.py sources_digest: the name of a module may be another module
    b'%d %d\n%b%b' % (len(name), len(source), name, source) => name + b' %d\n' % len(source) + source
    unit/ray/test_ray.py::test_the_name_of_a_module_is_no_other_module
runs/explain_model.py _digest_of_state: the name of a tensor may be another tensor
    in_one_line(name.encode()) => name.encode()
    end_to_end/test_own_module.py::test_the_name_of_a_tensor_is_no_other_tensor
rounding/device.py require_device: a device that computes something else is used
    wrong is not None => False
    unit/rounding/test_device.py::test_a_device_that_fails_is_not_used
rounding/device.py _arithmetic: results that are not rounded correctly pass
    result != expected => False
    unit/rounding/test_device.py::test_what_computes_something_else_is_named[0]
rounding/device.py _wrong_sums: products in less than float64 pass
    gamma(_DEPTH + 1) => 2.0 ** -20
    unit/rounding/test_device.py::test_what_computes_something_else_is_named[3]
bounds/observables.py _products: what sums may be off by is less than what they are made of
    size.add_(term.abs_()) => size.add_(term)
    unit/bounds/test_observables.py::test_sums_are_taken_one_coordinate_after_the_other

files.py _opened: links lead out of a stranger's folder
    isinstance(path, SentFile) => False
    end_to_end/test_links_in_folders.py::test_no_command_follows_a_link_out_of_a_folder[report-head.safetensors]
files.py _descended: a link that takes the place of a file is followed
    os.O_NOFOLLOW | (flags if number == len(steps) else inner) => flags if number == len(steps) else inner
    end_to_end/test_links_in_folders.py::test_a_link_that_takes_the_place_of_a_file_is_not_followed[report-head.safetensors]
files.py _descended: the certificates of a stranger's folder may lie anywhere
    is_subfolder => False
    end_to_end/test_links_in_folders.py::test_certificates_in_a_folder_that_is_a_link_are_not_read
files.py opener_of: the checker opens pictures wherever links lead
    around[0].beside(path) if around else path => path
    end_to_end/test_links_in_folders.py::test_the_checker_opens_what_lies_in_a_folder_in_it
runs/audit.py auditor_of: the checker opens files wherever links lead
    opener_of(*files) => None
    end_to_end/test_links_in_folders.py::test_a_link_that_takes_the_place_of_a_file_is_not_followed[audit-latents.safetensors]
runs/listed.py certificate_files: certificates of a stranger's folder are opened wherever links lead
    map(str if folder is None else SentFile, inside) => map(str, inside)
    end_to_end/test_links_in_folders.py::test_an_audit_has_the_verdicts_of_the_other_certificates
report/collect.py collect: a page shows certificates from anywhere
    map(SentFile, certificates_in(folder)) => map(str, certificates_in(folder))
    end_to_end/test_links_in_folders.py::test_no_command_follows_a_link_out_of_a_folder[report-000001.ale.json]
runs/source.py load_source: a page has the names of any file
    SentFile(path) => path
    end_to_end/test_links_in_folders.py::test_no_command_follows_a_link_out_of_a_folder[report-source.json]
runs/source.py Source.admitted: a page shows the picture that takes the place of another
    SentFile(real, around[0]) => file
    end_to_end/test_links_in_folders.py::test_a_link_that_takes_the_place_of_a_picture_is_not_followed
runs/inputs.py find_seen: pictures lie anywhere
    path.is_symlink() => False
    end_to_end/test_links_in_folders.py::test_networks_and_pictures_lie_in_the_folder[picture]
runs/written.py HeldFolder.require_there: a folder that was moved is not missed
    always identity_of(self.directory) == (own.st_dev, own.st_ino)
    unit/runs/test_explain.py::test_two_runs_are_never_in_one_folder
runs/written.py WrittenFiles._put: files go where the path leads by now
    self._within(name) => None
    unit/runs/test_explain.py::test_what_is_written_goes_where_the_lock_is
runs/written.py WrittenFiles._unlink: files are removed where the path leads by now
    remove_file(self.directory / name, self._within(name)) => remove_file(self.directory / name)
    unit/runs/test_explain.py::test_what_is_written_goes_where_the_lock_is
runs/written.py HeldFolder.require_there: files that were removed are said to be elsewhere
    never own.st_nlink == 0
    unit/runs/test_explain.py::test_what_is_removed_meanwhile_is_missed_and_written_again[the folder]
runs/explain.py ExplainRun._finish: a run need not be described at its end
    without self._require_described()
    unit/runs/test_explain.py::test_what_is_removed_meanwhile_is_missed_and_written_again[the description]
runs/explain.py ExplainRun._is_other: certificates that were replaced are counted
    not self._files.has(name, digest) => not self._files.exists(name)
    unit/runs/test_explain.py::test_files_that_are_replaced_are_missed_and_stay[changed-000000.ale.json-False]
runs/explain.py ExplainRun._finish: certificates that were removed are counted
    never gone or len(self.by_index) != self.total
    unit/runs/test_explain.py::test_what_is_removed_meanwhile_is_missed_and_written_again[a certificate]
runs/folder.py locked: a folder that took the place of another is locked
    without held.require_there()
    unit/runs/test_explain.py::test_a_folder_that_is_replaced_before_it_is_locked_is_not_locked
runs/listed.py Listing.of: a folder of rules lists nothing
    lexists((path := (folder / name))) => False
    end_to_end/test_incomplete_folder.py::test_a_list_of_rules_lists_its_certificates
runs/listed.py Listing.differences: certificates that are missing are not missed
    name not in there => False
    end_to_end/test_incomplete_folder.py::test_what_is_missing_is_said_by_all_that_read_a_folder[removed]
runs/listed.py Listing.differences: certificates that are more are not noticed
    name not in self.digests => False
    end_to_end/test_incomplete_folder.py::test_what_is_more_or_another_is_said
runs/listed.py Listing.differences: another certificate stands for one
    self.digests.get(name) not in (None, digest) => False
    end_to_end/test_incomplete_folder.py::test_what_is_more_or_another_is_said
runs/listed.py Listing.differences: lines of the record may be missing
    self.rows != self.images => False
    end_to_end/test_incomplete_folder.py::test_records_that_are_missing_are_noticed[a line]
cli/audit.py command: an audit of a folder that is not whole ends with 0
    without codes.append(Exit.INCOMPLETE)
    end_to_end/test_incomplete_folder.py::test_what_is_missing_is_said_by_all_that_read_a_folder[a subfolder]
report/verdicts.py with_verdicts_from: a verdict of another head
    without run['head'] != head
    unit/report/test_verdicts.py::test_a_verdict_is_for_the_same_head_only
report/verdicts.py with_verdicts_from: a verdict of other latents
    without any(run.get(name) not in (None, here[name]) for name in _CHECKED_WITH)
    unit/report/test_verdicts.py::test_the_verdicts_of_other_latents_do_not_count
report/verdicts.py with_verdicts_from: the last line counts
    record if other is None else _weaker(other, record, here) => record
    unit/report/test_verdicts.py::test_of_several_verdicts_the_weakest_counts
report/verdicts.py _weaker: the most severe verdict does not count
    never one['exit_code'] != other['exit_code']
    unit/report/test_verdicts.py::test_a_failure_without_the_latents_counts_beside_a_proof_with_them
report/verdicts.py with_verdicts_from: verdicts of another version look like those of this one
    ', by another version of the checker' => ''
    unit/report/test_verdicts.py::test_verdicts_of_another_version_are_told_as_such
report/verdicts.py audited: a verdict is about a head that came later
    auditor_of(setup, collection.head_file.data) => auditor_of(setup)
    unit/cli/test_inputs.py::test_a_report_is_about_one_head[options0]
report/collect.py Collection.read_head: the page asks about a head that came later
    HeadOfRun.of(self.head_file.path, self.head_file.data) => HeadOfRun.of(self.head_file.path)
    unit/report/test_page.py::test_what_is_told_is_proved_of_the_head_that_the_page_shows
report/page_check.py _difference: the checker in a page may be any
    never there != here
    unit/report/test_page_check.py::test_a_forged_checker_is_refused_whatever_digest_the_page_gives
report/page_check.py _difference: a page may say anything of a certificate
    one.encode() if name == 'data' else _inflated(one, held[1]) => b''
    unit/report/test_page_check.py::test_a_forged_page_is_refused[the claim-]
report/page_check.py _difference: a page may list any verdict
    _TIMES_OF_LIST.sub(b'"audit":[]', one, count=1) => b''
    unit/report/test_page_check.py::test_a_forged_page_is_refused[a verdict-]
report/page_full.py Full.finish: the first image stands beside every certificate
    self._known.setdefault(entry.picture, len(self.images)) => self._known.setdefault('', len(self.images))
    unit/report/test_page.py::test_equal_images_are_embedded_once
report/page_full.py Full.finish: a block begins with the certificate before it
    self.firsts.append(self.count) => self.firsts.append(max(0, self.count - 1))
    unit/report/test_page.py::test_certificates_in_several_blocks_are_those_of_one
report/page_files/text.js: a name turns the digits of proved numbers around
    child : printable(String(child)) => child : String(child)
    end_to_end/pages/test_report_page.py::test_whatever_files_hold_nothing_of_it_is_run_or_turns_numbers_around
report/page_files/text.js: another certificate of the block is shown
    place = number - data.blocks[block]; => place = 0;
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-top_k]
certificate/words.py VerdictInWords.scope: what is proved of latents looks proved of the picture
    'picture' in self.proved => True
    end_to_end/pages/test_report_account.py::test_what_is_proved_and_what_is_not_is_said_once_and_by_whom
report/page_files/account.js: a sum is told as half of what it is
    upperEnd(one.upper) + " points for " => fromHex(one.upper) / 2 + " points for "
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[cosine-evidence]
report/page_files/account.js: what another line gives stands beside a prototype
    points(one.points)]; => points(told.together)];
    end_to_end/pages/test_report_account.py::test_what_is_shown_is_what_is_proved_and_adds_up[evidence]
report/page_files/detail.js: what nobody proved is enough
    first = proved ? => first = true ?
    end_to_end/pages/test_report_account.py::test_what_is_proved_and_what_is_not_is_said_once_and_by_whom
report/page_files/check.js: a sum about some rivals is asked about as one about all
    one.rivals === null ? "none" => true ? "none"
    end_to_end/pages/test_report_check.py::test_a_sum_is_asked_about_as_it_is_shown
report/page_files/numbers.js: an end has a digit less than it needs
    return decimal; => return toDigits(value, Math.max(1, digits - 1), upper ? DOWN : UP);
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-top_k]
report/page_files/numbers.js: upper ends are rounded outward
    toDigits(value, digits, upper ? DOWN : UP) => toDigits(value, digits, upper ? UP : DOWN)
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[euclidean-projection]
report/page_files/detail.js: a class that is not known is wrong
    if (rows.predicted[row] === null) return => if (rows.predicted[row] === undefined) return
    end_to_end/pages/test_report_page.py::test_a_class_that_is_not_known_is_neither_right_nor_wrong
report/page_files/numbers.js: an end is a product of factors that are no floats
    return ofBits(sign ? bits | SIGN : bits); => return (sign ? -1 : 1) * Number(digits) * 2 ** power;
    unit/report/test_page_numbers.py::test_every_spelling_is_the_number_that_the_checker_reads[-]
report/page_files/numbers.js: proved leads are rounded to nearest
    toDigits(value, 4, DOWN) => toDigits(value, 4, NEAREST)
    unit/report/test_page_numbers.py::test_what_is_read_as_a_bound_is_one
report/page_files/numbers.js: an interval is told that nothing satisfies
    const inOrder = !exceedsDecimal(low, high); => const inOrder = true;
    unit/report/test_page_numbers.py::test_intervals_are_those_of_python
report/page_files/numbers.js: a list leaves out a prototype
    said.push(numbers[start] + "-" + numbers[end - 1]); => said.push(numbers[start] + "-" + numbers[end - 2]);
    unit/report/test_page_numbers.py::test_prototypes_are_named_as_in_python
report/page_files/draw.js: rows count from 1, unlike anywhere else
    return "row " + cell[0] + ", column " + cell[1]; => return "row " + (cell[0] + 1) + ", column " + (cell[1] + 1);
    end_to_end/pages/test_report_fields.py::test_the_frame_is_the_receptive_field_of_the_outlined_patch
report/page_files/detail.js: a lead that is not proved follows from the statements
    "that the certificate claims; it is not proved here. " => "that follows from the statements. "
    end_to_end/pages/test_report_page.py::test_what_is_not_proved_says_why
certificate/words.py as_claimed: a margin that nobody proved is told as one that is proved
    verdict.startswith('PROVED') => True
    end_to_end/test_show.py::test_without_a_head_nothing_is_proved
report/page_files/detail.js: a clause names fewer prototypes than it exempts
    meantBy(one.except, detail.count) : prototype => meantBy(one.except.slice(1), detail.count) : prototype
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[exp_distance-top_k]
report/explanation.py _clauses: other prototypes are other than those that the clause exempts
    exempt == named => named is not None
    end_to_end/pages/test_page_is_proved.py::test_what_is_read_is_proved[exp_distance-top_k]
report/account.py _Ledger.takes: the better end of an activation counts
    high[j] if difference > 0 else low[j] => low[j] if difference > 0 else high[j]
    unit/report/test_account.py::test_who_gives_and_who_takes_is_told_in_words
bounds/margin.py LinearMargins.taken_back: what is taken back is rounded down
    up(up(self.bias - least) + up(self.bias.abs() * 2.0**-52)) => self.bias - least - 2.0**-40
    unit/bounds/test_margin.py::test_a_margin_is_below_the_exact_least_difference_and_what_others_take_above_the_most[0-euclidean]
search/paradigms/evidence.py _Case.proved: a sum adds to the margin
    down(alone - allowed) => down(alone + allowed)
    unit/search/test_paradigms.py::test_every_kernel_proves_what_is_found[0.0-exact]
head/head.py belonging: prototypes belong to every class that has not the least weight
    head.weight[predicted] >= head.weight.amax(0) => head.weight[predicted] > head.weight.amin(0)
    unit/rules/test_fit.py::test_images_that_satisfy_a_sum[euclidean]
rules/coverage.py _sum_holds: the least that may be taken back is looked at
    most <= statement.upper => least[:, rivals] <= statement.upper - 1
    unit/rules/test_fit.py::test_images_that_satisfy_a_sum[euclidean]
rounding/decimals.py _widened: upper ends are rounded inward
    0.0 - _below(-ends.upper, many, parts) => _below(ends.upper, many, parts)
    unit/rounding/test_decimals.py::test_ends_move_outward_to_the_next_multiples_and_stay_there
search/through.py _holding: a sum is that of the latents alone
    replace(statement, upper=max(upper, float((taken if rivals is None else taken[list(rivals)]).amax()))) => statement
    unit/search/test_through.py::test_a_sum_is_of_all_latents_in_the_ranges
report/account.py _Ledger.takes: the greatest sum is shown
    each.upper <= taken => True
    unit/report/test_account.py::test_of_two_sums_the_lower_one_is_told
report/account.py account_of: a lead may be less than the one that is stated
    leads[c] < (certificate.margins[c] or 0) => leads[c] < 0
    unit/report/test_account.py::test_what_is_not_proved_has_no_account
report/account.py account_of: the class that comes last is told as the one that comes closest
    (leads[c], c) => (-leads[c], c)
    unit/report/test_account.py::test_what_is_shown_adds_up_and_the_image_keeps_to_it[euclidean-evidence-proved]
report/collect.py Collection.numbers: what is proved is of another head
    auditor_for(self.head_file).numbers => auditor_for(self.head_file.of(self.head_file.path)).numbers
    unit/report/test_page.py::test_what_is_told_is_proved_of_the_head_that_the_page_shows
report/collect.py Collection.numbers: what is told beside a verdict is not what its checker proves
    never self.auditor is not None
    unit/report/test_page.py::test_what_is_told_is_what_the_checker_of_the_verdicts_proves

checker/proved/claims.py ProvedAudit.prove: a statement can be spared, and nobody says so
    without self._require_none_spare()
    unit/checker/proved/test_audit.py::test_a_statement_without_which_the_class_is_proved_is_named
search/linked.py Linked.shrunk: minimality is claimed where a statement can be spared
    not bool(self.may_be_proved(margins, torch.cat([without, *bounds])[None]).any()) => True
    unit/search/test_linked.py::test_of_one_patch_no_statement_is_claimed_where_the_whole_margin_is_proved[negated]
search/linked.py Linked.shrunk: a statement that neighbours imply is kept
    not len(order) => True
    unit/search/test_linked.py::test_no_statement_can_be_dropped_and_every_checker_says_so[few-cosine-top_k]
rounding/enclosure.py root: square roots are only nearly right
    np.sqrt(values.numpy(), out=roots.numpy()) => np.exp(np.log(values.numpy()) / 2, out=roots.numpy())
    unit/rounding/test_enclosure.py::test_roots_are_correctly_rounded
search/linked.py WholeMargins.fall_short: no margin of one patch is bounded as a whole
    (terms.sum(1) < -_ROUNDED * terms.abs().sum(1)) & (place.square().sum(1) <= self._radius**2) => True
    unit/search/test_linked.py::test_of_one_patch_no_statement_is_claimed_where_the_whole_margin_is_proved[negated]
search/several.py _OfActivations.explanation: a statement that neighbours imply is kept
    self._search.shrunk(self.problem, self._activations.explanation(self._stated(items)))
    => self._activations.explanation(self._stated(items))
    unit/search/test_linked.py::test_several_explanations_claim_no_more
report/page.py of_kernel: whatever the environment names is proved right
    never variable and PROVED in CHOICES.get(name, ())
    unit/report/test_page.py::test_a_program_that_the_environment_named_is_not_called_proved_right
checker/options.py packages_of: what the default may compute with is not recorded
    return ("python-flint",) => return ()
    unit/checker/test_file_auditor.py::test_the_default_needs_and_names_what_it_loads_later
checker/verdict.py _who: a verdict does not say whom the environment named
    program_in_words(record['run']['checker']) => program_in_words({})
    unit/checker/proved/test_audit.py::test_records_name_the_executable
report/images.py Matcher._of_picture: the file that source.json names is the picture
    file = self._find(picture, places) => file = places[0]
    end_to_end/test_displayed_pictures.py::test_the_picture_that_is_shown_or_named_is_the_certificates[files_swapped-html]
report/images.py Matcher._of_picture: an entry of source.json may contradict itself
    (file in places and (is_noted or not source.pictures)) or (is_noted and not is_there) => True
    unit/report/test_images.py::test_an_entry_that_contradicts_itself_says_nothing
report/images.py Matcher.image: an image of latents is verified
    AS_NOTED if by_latents and self._noted else BY_ORDER => '' if by_latents and self._noted else BY_ORDER
    end_to_end/test_displayed_pictures.py::test_what_binds_an_image_to_latents_is_told_apart[csv]
report/images.py named_picture: any picture is the one that is named
    picture.digest == digest => picture.digest
    end_to_end/test_displayed_pictures.py::test_the_picture_that_is_shown_or_named_is_the_certificates[files_swapped-figure]
report/thumbnails.py to_draw: source.json cuts the picture
    ImageFile(file, picture=match.picture, held=match.held)
    => ImageFile(file, window_of(source.preprocessing), picture=None)
    end_to_end/test_displayed_pictures.py::test_the_picture_that_is_shown_or_named_is_the_certificates[cut-compact]
report/thumbnails.py to_draw: the picture is what another program reads
    ImageFile(file, picture=match.picture, held=match.held) => ImageFile(file)
    end_to_end/test_displayed_pictures.py::test_the_picture_that_is_shown_or_named_is_the_certificates[animated-html]
report/thumbnails.py _reduced: colours change by what stands beside them
    without image.info.clear()
    unit/report/test_images.py::test_nothing_is_written_by_which_colours_change
report/collect.py Item.image_is: any picture is proved
    self.verdict.image_is(NAMED_PICTURE) => 'the proved picture'
    end_to_end/test_displayed_pictures.py::test_of_a_picture_that_was_not_checked_nothing_is_called_proved[html]
certificate/words.py VerdictInWords.begun: what was not checked of a picture is claimed beside PROVED
    picture is None or self.caveat => picture is None
    end_to_end/test_displayed_pictures.py::test_of_a_picture_that_was_not_checked_nothing_is_called_proved[compact]
certificate/words.py not_proved: the proof of a picture is denied
    of_picture = 'picture' in proved => of_picture = False
    end_to_end/test_displayed_pictures.py::test_the_proof_of_the_picture_is_told_and_not_denied[real-figure]
certificate/words.py VerdictInWords.proved: what is claimed is proved
    state == 'proved' => state
    end_to_end/test_displayed_pictures.py::test_of_a_picture_that_was_not_checked_nothing_is_called_proved[show]
certificate/words.py how_computed: every picture is proved in real arithmetic
    arithmetic or '' => 'real'
    end_to_end/test_displayed_pictures.py::test_the_proof_of_the_picture_is_told_and_not_denied[float32-html]
report/table.py frame: no column says so
    _cells(collection, item) => _cells(collection, __import__('dataclasses').replace(item, record=None))
    end_to_end/test_displayed_pictures.py::test_the_proof_of_the_picture_is_told_and_not_denied[real-parquet]
report/picture.py picture: a figure hides a mistake
    item.correct => None
    end_to_end/test_displayed_pictures.py::test_true_classes_are_as_labelled_and_mistakes_are_told[figure]
report/single.py Shown.heading: a notebook hides a mistake
    where_wrong(self.label, self.correct) => ''
    end_to_end/test_displayed_pictures.py::test_true_classes_are_as_labelled_and_mistakes_are_told[notebook]
report/single.py Shown.about_image: a true class is one
    f'true class {self.label} ({AS_LABELLED})' => f'true class {self.label}'
    end_to_end/test_show.py::test_sentence_numbers_margins_size_image_and_verdict
report/collect.py Collection.notes_on: classes have the names of source.json
    [OWN_NAMES] if self.own_names else [] => []
    end_to_end/test_displayed_pictures.py::test_what_binds_an_image_to_latents_is_told_apart[figure]
report/collect.py Collection.grid_of: patches lie where any latents say
    None if beside is None else beside.shape => None
    end_to_end/test_displayed_pictures.py::test_patches_lie_where_the_network_says
report/single.py single: the image of latents is theirs
    image_is = item.image_is => image_is = ''
    end_to_end/test_displayed_pictures.py::test_what_binds_an_image_to_latents_is_told_apart[show]
report/outlined.py pixels_of_given: a caller's image is the certificate's
    each.digest == picture => picture
    end_to_end/test_displayed_pictures.py::test_an_image_that_is_given_is_compared_too
certificate/words.py VerdictInWords.image_is: a caller's image is proved
    known == NAMED_PICTURE and 'picture' in self.proved => 'picture' in self.proved
    end_to_end/test_displayed_pictures.py::test_an_image_that_is_given_is_compared_too
report/static_pages.py _pictures: any image stands beside what a certificate claims
    matcher.image(index, True) if picture is None else matcher.matched(None, picture, index)[1]
    => matcher.image(index, True)
    end_to_end/test_displayed_pictures.py::test_the_picture_that_is_shown_or_named_is_the_certificates[files_swapped-compare]
report/page.py of_unproved: prototypes are what their pictures show
    any((j not in proved for j in (*collection.source.origins, *collection.pictures))) => False
    end_to_end/test_displayed_pictures.py::test_what_binds_an_image_to_latents_is_told_apart[html]
report/static_pages.py rules_page: prototypes of rules are what their pictures show
    PROTOTYPES if pictures else '' => ''
    unit/report/test_static_pages.py::test_pictures_stand_with_their_prototypes
report/static_pages.py attribution_page: those that explanations share are, too
    PROTOTYPES if pictures else '' => ''
    unit/runs/test_rules.py::test_an_audit_proves_the_folder_and_the_page_asks_nobody[top_k]
report/page_files/detail.js: the proof of a picture is not told
    rows.pictured[row] && data.words.computed[rows.pictured[row]] => null
    end_to_end/pages/test_report_fields.py::test_the_proof_of_the_picture_is_told[real]
report/page_files/detail.js: the first claim has all meanings
    (meaning[name] || name) => meaning.entailment
    end_to_end/pages/test_report_fields.py::test_the_proof_of_the_picture_is_told[float32]
report/page_files/detail.js: a page hides a mistake
    rows.label[row] === rows.predicted[row] ? ["the network is right" => true ? ["the network is right"
    end_to_end/pages/test_report_fields.py::test_a_mistake_is_told_as_labelled
report/page_files/check.js: another picture is proved again
    one.digest.sha256 === own => one.digest.sha256
    end_to_end/pages/test_report_check.py::test_another_picture_is_not_proved[False]
report/explanation.py Telling.of: any head has the certificate's names
    without head.sha256 != certificate.head
    end_to_end/test_show.py::test_of_another_head_nothing_is_told
report/picture.py _drawn: a figure says PROVED of anything
    said.heading => 'PROVED'
    unit/report/test_picture.py::test_what_is_not_audited_is_not_called_proved[top_k]
report/single.py show: a notebook says PROVED of anything
    verdict.status.value => 'PROVED'
    unit/certificate/test_certificate.py::test_with_head_and_latents_it_is_audited_now
report/single.py Shown.claim: what is claimed is called proved
    said.get(self.verdict.status, 'Claimed, and not proved') => 'Proved'
    end_to_end/test_show.py::test_what_does_not_follow_is_not_called_proved
certificate/words.py upper_end: an upper end is told with a digit less
    before => before - 1e-09
    unit/certificate/test_words.py::test_ends_are_read_back_as_they_are
certificate/words.py lower_end: a lower end is told with a digit less
    after => after + 1e-09
    unit/certificate/test_words.py::test_ends_are_read_back_as_they_are
certificate/words.py below: what is proved at least is rounded to nearest
    ROUND_FLOOR => ROUND_HALF_EVEN
    unit/certificate/test_words.py::test_below_is_below_by_less_than_one_unit
certificate/words.py above: what is proved at most is rounded down
    ROUND_CEILING => ROUND_FLOOR
    unit/certificate/test_words.py::test_above_is_above_by_less_than_one_unit
certificate/words.py float_below: a number of a table is greater than the margin when it is printed
    never near > -inf and Fraction(repr(near)) > exact
    unit/certificate/test_words.py::test_a_number_of_a_table_is_below_however_it_is_printed
certificate/words.py percent: nearly all is all
    1000 * part // whole => round(1000 * part / whole)
    unit/certificate/test_words.py::test_they_are_short_and_plain_and_a_share_is_all_only_if_it_is
certificate/words.py prototypes_named: a list is cut
    enumerated(said) => enumerated([*said[:8], '...'])
    unit/certificate/test_words.py::test_no_list_leaves_out_any_prototype
certificate/words.py meant_by: a clause is told by those that it does not speak of
    never len(meant) < len(exempt)
    unit/certificate/test_words.py::test_a_clause_is_told_by_those_that_it_speaks_of_where_they_are_fewer
report/explanation.py Telling.of: a figure does not know how many prototypes there are
    statement_in_words(each, count) => statement_in_words(each, None)
    end_to_end/test_own_numbers.py::test_every_output_names_the_prototypes_that_a_clause_speaks_of[few-figure]
cli/questions.py _necessity_lines: two prototypes are told as all but the other ones
    result.prototypes => None
    end_to_end/test_own_numbers.py::test_every_output_names_the_prototypes_that_a_clause_speaks_of[few-necessity]
report/account.py _told: what is taken back at most is rounded down
    -down(-exact) => down(exact)
    unit/report/test_account.py::test_who_gives_and_who_takes_is_told_in_words
report/account.py _told: what is given at least is rounded up
    math.floor(value * scale) => math.ceil(value * scale)
    unit/report/test_account.py::test_rounding_never_says_more_than_is_proved[euclidean-evidence]
report/account.py _told: a sum is told as it is stated though the lead is less
    Fraction(get - told, scale) <= given[other] - exact => True
    unit/report/test_account.py::test_a_sum_is_told_as_it_is_stated_where_the_lead_is_proved
cli/terminal.py coloured: what is not proved is as green as what is
    _COLOURS.get(status, _RED) => '32'
    end_to_end/test_terminal.py::test_verdicts_are_counted_and_have_colours_unless_nobody_wants_them
cli/terminal.py AuditTable.add: a row is as if an image had been checked
    said != 'proved' and claim != 'minimality' => False
    end_to_end/test_terminal.py::test_a_row_says_what_is_proved_of_no_image
cli/terminal.py AuditTable.add: what is not proved counts as proved in the total
    f'{status} ({reason})' if reason and (not proved) else status => 'PROVED'
    end_to_end/test_terminal.py::test_verdicts_are_counted_and_have_colours_unless_nobody_wants_them
cli/tables.py TextTable.add_row: a cell may look like two
    one_field => lambda cell: cell.encode('unicode_escape').decode()
    unit/cli/test_printing.py::test_a_cell_is_not_two_and_no_digest_is_broken_where_a_table_is_piped
cli/tables.py markdown_lines: a name is markup
    map(in_markdown, row) => row
    unit/runs/test_summary.py::test_nothing_is_markup_in_markdown[a|b]
cli/questions.py _gap_line: another paradigm's bound is not told apart
    f'{line}; of those under {paradigm} nothing is proved' => line
    unit/runs/test_contrast.py::test_what_is_under_another_paradigm_is_never_called_smallest
cli/patterns.py _cover_line: a name may look like what is said of it
    before_colon(covered.certificate) => covered.certificate
    unit/cli/test_printing.py::test_a_name_does_not_look_like_what_is_said_of_it[command1]
cli/show.py command: what is shown is done
    result.outcome.exit_code => 0
    end_to_end/test_show.py::test_what_is_no_certificate
cli/audit.py command: the code of the last
    code = most_severe(codes) => code = codes[-1]
    unit/cli/test_audit.py::test_lines_come_in_order_and_one_bad_file_stops_nothing
cli/audit.py command: what cannot be read has no code
    without codes.append(Exit.UNUSABLE)
    unit/cli/test_audit.py::test_what_holds_no_certificate_is_code_9_beside_what_is_proved
cli/__init__.py main: a verdict that cannot be printed is a verdict
    with standard_streams():
        _run()
    => _run()
    unit/checker/test_streams.py::test_a_verdict
files.py is_certificate_name: a certificate goes to a device
    without not _DEVICE.fullmatch(name.partition('.')[0].rstrip(' '))
    unit/test_files.py::test_no_certificate_has_the_name_of_a_device[CON]
cli/terminal.py progress: who interrupts has proved
    Exit.INTERRUPTED => 0
    unit/cli/test_audit.py::test_an_interrupt_leaves_a_report_that_is_taken_up_again
cli/audit.py command.setup_of: minimality is not asked for
    audit => AuditOptions.of(audit, {'minimality': False})
    unit/cli/test_audit.py::test_every_option_reaches_the_audit
cli/audit.py command: what is not proved may be attested
    without code == 0
    unit/runs/test_attestation.py::test_nothing_is_attested_where_one_is_not_proved
cli/audit.py command.announce: the digest is that of what the file holds by now
    options.print_found(Inputs(used.head, used.latents), given, record['head'])
    => options.print_found(
        Inputs(used.head, used.latents),
        given,
        __import__('verale.runs.inputs').runs.inputs.sha256_of(used.head),
    )
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[audit]
cli/options.py print_found: the digest is that of what the file holds by now
    sha256 => HeadFile.of(str(used.head)).sha256
    unit/cli/test_inputs.py::test_the_digest_that_is_printed_is_that_of_the_head_that_is_used[cover]
cli/__init__.py _run: what is not proved is a file that cannot be used
    error.exit_code => Exit.UNUSABLE
    unit/cli/test_exits.py::test_what_is_not_proved_has_the_code_of_its_verdict[contrast]
cli/report.py command: a report of what is not proved is done
    0 if no_audit else code => 0
    unit/cli/test_exits.py::test_what_is_not_proved_has_the_code_of_its_verdict[report]
report/collect.py Item.exit_code: what no log is about is proved
    EXIT_UNUSABLE => 0
    unit/cli/test_exits.py::test_only_a_report_that_was_not_audited_as_asked_is_done
cli/__init__.py _Commands.invoke: a former name is any unknown option
    always renamed is None
    unit/cli/test_main.py::test_a_former_name_ends_with_the_new_one[audit---report]
cli/report.py command: a page that is compared is not
    without require_same(target, data)
    unit/report/test_page_check.py::test_a_forged_checker_is_refused_whatever_digest_the_page_gives
soundness/corpus/cases.py Case.allows: any verdict on a case will do
    always verdict == self.expected
    corpus/test_truth.py::test_a_verdict_may_differ_where_a_case_is_beyond_the_reference_argument_alone
head/similarity.py _stepped: the search's similarity is not the checker's
    over / (x + under) - under / (x + under) => over / (x + under) + under / (x + under)
    soundness/test_containment.py::test_ranges_contain_the_truth
soundness/compare.py _contradict: one checker proves what another sees to be false of the image
    (one[0], other[1]) in _CONTRADICTIONS => False
    soundness/test_agreement.py::test_what_must_not_be_is_wrong
soundness/compare.py unproved: what is emitted and not proved is not told
    never verdict.status is not Status.PROVED
    soundness/test_random_heads.py::test_what_is_not_proved_is_told
soundness/corpus/cases.py outcome_of: a program that dies has given up
    never verdict.message.startswith(NOT_ASKED)
    soundness/test_agreement.py::test_what_must_not_be_is_wrong
soundness/suite.py _corpora: a case without its verdict is not told
    never not case.allows(verdict := case.verdict(kernel))
    unit/cli/test_soundness.py::test_a_case_with_another_verdict_is_told
bounds/triangle.py Triangle._of_distances: a wide statement bounds others as its nearer end does
    given.upper.sqrt() => given.lower.sqrt()
    unit/bounds/test_triangle.py::test_both_ends_of_a_wide_distance_bound_others
bounds/pooling.py _MeanDistanceDropping.alone: a patch of which nothing is known does not count in a mean
    unbounded[open_] > self._infinite[patch, prototypes].long() => unbounded[open_] < 0
    unit/bounds/test_pooling.py::test_trials_with_unbounded_distances
search/rounds/statements.py Apart.delete: what a withdrawn statement said is still known
    torch.maximum(rest, domain) => self._second[where]
    unit/search/test_rounds_statements.py::test_deletions_say_what_is_left[euclidean-Triangle-0.0]
search/rounds/statements.py Statements._less: the last statement is withdrawn, whichever it should be
    self.stated[patches].gather(1, order) => self.stated[patches]
    unit/search/test_rounds_statements.py::test_deletions_say_what_is_left[euclidean-Hypersphere-0.0]
search/rounds/stepwise.py _Stating.shrunk: where order matters, what was needed once is not tried again
    always not self._paradigm.ordered or int(known.count.sum()) == before
    unit/search/test_explain.py::test_where_the_order_matters_it_is_kept_and_none_can_be_dropped[euclidean-rival]
"""

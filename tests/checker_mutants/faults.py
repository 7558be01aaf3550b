"""Faults of the checker that somebody thought of, at least one a file: a wrong formula, a term that is missing, a
quantity in the place of another, a check left out; as `support.outside_faults` has those of all else.

FILE FUNCTION: WHAT IS WRONG THEN
    the change, as `support.syntax.changed` takes it, on as many lines as it needs
    the one test below `tests` that has to detect it (`support.outside`)
"""

from __future__ import annotations

__all__ = ["TABLE"]

TABLE = r"""
# Numbers and kernels.
numbers.py least_of: what several prove is what one of them does
    _of_all(min, same) => _of_all(max, same)
    unit/checker/test_numbers.py::test_what_several_prove_is_what_each_does
reading/audit.py _intervals: upper ends are lower ones
    Fraction(int(high), 1 << box.bits) => Fraction(int(low), 1 << box.bits)
    unit/checker/test_numbers.py::test_statements_that_give_an_end_are_told[arb]
reading/audit.py PlainAudit.at_image: what is not decided is false
    true = truth(statement, evaluation) => true = bool(truth(statement, evaluation))
    unit/checker/test_auditor.py::test_what_is_not_decided_is_neither[proved-or-arb]
reading/evaluation.py Evaluation.bounded: all masses are scaled alike
    (head.geometry, head.pooling, head.similarity.chain.tensors) == ("softmax", "max", ())
    => (head.geometry, head.pooling) == ("softmax", "max")
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/ceiling]
reading/evaluation.py Evaluation.bounded: of a ceiling the least activation is looked at
    min if statement.upper is None else max => min
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/ceiling]
proved/claims.py ProvedAudit.at_image: what is not proved is true
    True if self._claims.holds(self._certificate, image) else None => True
    unit/checker/test_auditor.py::test_each_is_decided_by_the_reading[proved-or-arb]
numbers.py agreed: what one kernel decides is decided
    StatementAt(None) => first
    unit/checker/test_auditor.py::test_each_is_decided_by_the_reading[all]
auditor.py Auditor.at_image: nobody else is asked what is not decided
    all(each.true is not None for each in statements) => True
    unit/checker/test_auditor.py::test_each_is_decided_by_the_reading[proved-or-arb]
numbers.py Items.finish: numbers may go on
    never self._items
    unit/checker/proved/test_numbers.py::test_what_is_no_answer_is_noticed
numbers.py numbers_of: the predicted class may have a margin
    never margins[predicted] is not None
    unit/checker/proved/test_numbers.py::test_what_is_no_answer_is_noticed
numbers.py Items.unit: a unit may be 0 or below
    never unit <= 0
    unit/checker/proved/test_numbers.py::test_what_is_no_answer_is_noticed
dyadic.py sqrt_ends: the upper end of a root is its lower end
    without root * root != value
    unit/checker/test_kernels.py::test_sqrt_ends[2]
dyadic.py decimal_below: margins are rounded to nearest
    ROUND_FLOOR => ROUND_HALF_EVEN
    unit/checker/test_verdict.py::test_the_margin_is_rounded_down_and_reads_as_everywhere
arithmetic.py Arithmetic._times: the digits of a negative number are another's
    dot(row, whole) + offset => dot(row, whole)
    unit/checker/network/test_enclosure.py::test_a_large_convolution_is_computed_in_pieces
arithmetic.py Arithmetic.product: columns are taken in another order
    row[start : start + wide] => row[start : start + wide][::-1]
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
options.py in_words: arb is told as the proved checker
    proved if each == PROVED else each => proved
    unit/checker/test_verdict.py::test_lines
options.py AuditOptions.of: only the name of a kernel counts
    replace(base, **given) => base
    unit/test_options.py::test_an_audit_s_option_that_cannot_be_used_is_named
options.py AuditOptions.in_vain: what is never proved is begun under both names
    PROVED not in CHOICES[self.kernel] => PROVED != self.kernel
    unit/test_options.py::test_an_auditor_s_options_are_told_apart
arithmetic.py Arithmetic.exp: what is less than a unit is nothing
    0, 1 => 0, 0
    unit/checker/test_kernels.py::test_exp_encloses[arb]
arb.py _ends: an upper end is rounded down
    ceil_shift(int(high), int(high_exponent) + bits) => floor_shift(int(high), int(high_exponent) + bits)
    unit/checker/test_kernels.py::test_log_encloses[arb]
series.py _twice_atanh: the remainder of atanh is left out
    mpi_add(mpi_mul(t, value, precision), _remainder(precision), precision) => mpi_mul(t, value, precision)
    unit/checker/test_kernels.py::test_terms_that_are_left_out_decide_where_the_first_lie_on_the_grid[mpmath]
series.py Mpmath._exp: the remainder of exp is left out
    mpi_add(value, _remainder(precision), precision) => value
    unit/checker/test_kernels.py::test_terms_that_are_left_out_decide_where_the_first_lie_on_the_grid[mpmath]
series.py _ends: a lower end is an integer of mpmath's backend
    -int(low) if low_sign else int(low) => -low if low_sign else low
    unit/checker/test_kernels.py::test_the_integers_of_mpmath_s_backend_stay_in_the_kernel
chain.py Similarity.at: a mean is not divided
    parts << x_bits => 1 << x_bits
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
chain.py Similarity._taken: what a step adds is left out
    low * d + n * unit => low * d
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
chain.py Similarity._taken: what is negated stays
    -high, -low, unit => low, high, unit
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
chain.py Similarity._taken: a root's upper end is rounded down
    sqrt_ends(-(-far // unit))[1] => sqrt_ends(far // unit)[0]
    unit/checker/test_similarities.py::test_a_root_that_is_above_an_integer_by_less_than_a_step_of_the_grid_is_rounded_up
chain.py _quotient_before: the number under the bar is left out
    (a * b_unit << bits) - b * a_unit * power => a * b_unit << bits
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/mixed]
chain.py Similarity._inverted: no step turns what is said
    step.of.falls => False
    unit/checker/test_similarities.py::test_what_is_said_turns_at_every_step_that_falls
read/similarities.py _exponential: a cosine is a distance
    always geometry == 'euclidean'
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
read/similarities.py Step.__post_init__: quotients may rise
    0 < numbers["under"] < numbers["over"] => 0 < numbers["under"]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/head]
read/similarities.py Step.__post_init__: a factor may be 0
    numbers["number"] <= 0 => numbers["number"] < 0
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/head]
read/similarities.py Chain.check: a step may take any number
    ends[0] < low or ends[1] > high => False
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/head]
read/similarities.py Chain.check: similarities of distances may rise
    self._odd != expected => False
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/head]
read/similarities.py Chain.check: a peak may come late
    step.kind == "from_peak" and place => False
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/head]
chain.py Similarity._taken: a reciprocal's number is left out
    d * max(0, end) + n * unit => d * max(0, end) + d * unit
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]

# From patches to margins.
chain.py Similarity.ends: similarities of distances rise
    (max(0, high), low) if self.falls else (low, high) => (low, high)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/pooling.py Pooling.similarities: nothing is rounded inward
    partial(similarity.ends, self._space.arithmetic, m_bits=bits, bits=bits, inward=inward)
    => partial(similarity.ends, self._space.arithmetic, m_bits=bits, bits=bits)
    soundness/test_containment.py::test_ranges_lie_within_those_that_are_proved
reading/pooling.py Pooling.box: patches that are alike count once
    _ends(self._unstated, count) => _ends(self._unstated, 1)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/pooling.py Pooling.box: a prototype looks at all patches
    [of[j] for k in columns for of in seen[k]] => [of[j] for each in seen for of in each]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/simplex]
reading/pooling.py _max_minus_mean_distance: the nearest is no part of the mean
    farthest - (high or 0) + low => farthest - (high or 0)
    unit/checker/reading/test_pooling.py::test_max_minus_mean_distance_is_the_exact_range[2]
reading/margin.py lower_bound: the bias is left out
    without Fraction(bias[winner] - bias[loser], 1 << head.bias.bits)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/margin.py lower_bound: a sum adds to the margin
    Fraction(_least(of_winner, box), unit) - min(stated) => Fraction(_least(of_winner, box), unit) + min(stated)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/margin.py lower_bound: a sum takes nothing
    Fraction(_least(of_winner, box), unit) - min(stated) => Fraction(_least(of_winner, box), unit)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/margin.py lower_bound: with a sum the biases count twice
    Fraction(_least(of_winner, box), unit) - min(stated)
    => Fraction(_least(of_winner, box), unit) - min(stated) + Fraction(bias[winner] - bias[loser], 1 << head.bias.bits)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/margin.py lower_bound: every sum is about the rival
    each.about(loser) => True
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
reading/margin.py _least: terms have their greater ends
    low if d > 0 else high => high if d > 0 else low
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/margin.py taken_back: the class's own prototypes are among the others
    0 if mine else gain => gain
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
reading/margin.py taken_back: a sum is of the class's own prototypes
    0 if mine else gain => gain if mine else 0
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/margin.py taken_back: the least of the rivals is looked at
    Fraction(max(highs), unit) => Fraction(min(highs), unit)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
reading/evaluation.py Evaluation.bounded: a sum is of the first class
    taken_back(self._space.head, self.activations(bits), self._predicted, rivals)
    => taken_back(self._space.head, self.activations(bits), 0, rivals)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/evaluation.py Evaluation.bounded: a sum is about rivals that it does not list
    statement.about(c) => True
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/evaluation.py truth: a sum is about nothing
    not isinstance(statement, SumStatement) and not spoken_of(statement, evaluation.count)
    => not spoken_of(statement, evaluation.count)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
head.py Head.belong: a prototype with two greatest weights belongs to no class
    list(map(eq, self.weight.rows[c], self._greatest))
    => [[row[j] >= w for row in self.weight.rows].count(True) == 1 for j, w in enumerate(self.weight.rows[c])]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/sum]
head.py Head.belong: a prototype belongs to the first class with its greatest weight
    list(map(eq, self.weight.rows[c], self._greatest))
    => [[row[j] for row in self.weight.rows].index(w) == c for j, w in enumerate(self._greatest)]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
head.py Head.belong: weights are compared in units
    eq => lambda w, g: g - w <= 1
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/sum]
certificate.py SumStatement.about: a list is no limit
    self.rivals is None or rival in self.rivals => True
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
certificate.py Certificate._check_statement: a sum may be negative
    never statement.upper < 0
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/sum]
certificate.py Certificate._check_statement: a sum may list no rival
    not statement.rivals or not _rises(statement.rivals) => not _rises(statement.rivals)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/sum]
certificate.py Certificate._check_statement: the predicted class is a rival
    self.predicted in statement.rivals => False
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/sum]
certificate.py Certificate._check_statement: two sums may be about one rival
    [(SumStatement, rival) for rival in statement.rivals] => []
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/sums]
certificate.py Certificate._check_statement: two sums may be about all
    [SumStatement] => []
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/sums]
certificate.py Certificate._check_parts: evidence is there for every readout
    head.readout == 'linear' => True
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/evidence]
proved/text.py _statement: a sum is about all rivals
    statement.rivals is None => True
    unit/checker/proved/test_text.py::test_texts_of_the_corpora_are_those_of_the_independent_writer
reading/margin.py require: stated margins are not compared
    never claimed is not None and bound < claimed
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/raw]
reading/margin.py require_minimal: the worst rival is not asked
    rivals => rivals[1:]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/evaluation.py Evaluation._activation: every prototype looks at all patches
    head.patches_of(prototype, len(self._lower)) => range(len(self._lower))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/evaluation.py require_true: only the first statement is looked at
    certificate.statements => certificate.statements[:1]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/clause]
certificate.py spoken_of: the clause speaks of those that it exempts
    without set(range(count))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/evaluation.py require_domain: upper ends are not looked at
    without (upper is not None and max(high) > upper)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/outside]
reading/evaluation.py truth: an upper end is outside
    high <= upper => high < upper
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/evaluation.py truth: the clause is about nothing
    always not spoken_of(statement, evaluation.count)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/clause]
reading/paradigms.py _cut: the floor takes the place of what is known
    choose(ends[j], end) => end
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/paradigms.py Activations.boxes_without: without a statement, clauses say nothing of its activation
    clauses.lower[j], clauses.upper[j] => pooled.lower[j], pooled.upper[j]
    unit/checker/reading/test_lipschitz.py::test_without_each_is_the_box_of_all_others[0]
reading/lipschitz.py Lipschitz._lowered: a distance of sums is the sum of distances
    without 2 * sqrt_ends(y * link)[not inward]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/lipschitz.py Lipschitz._raised: the wrong side of the triangle rule
    y + link - 2 * sqrt_ends(y * link)[not inward] => y + link + 2 * sqrt_ends(y * link)[not inward]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/lipschitz.py Lipschitz._raised: roots are rounded outward inward
    y + link - 2 * sqrt_ends(y * link)[not inward] => y + link - 2 * sqrt_ends(y * link)[1] - 2
    unit/checker/reading/test_lipschitz.py::test_rational_ends_of_neighbours_are_exact[arb]
reading/lipschitz.py Lipschitz._raised: a root of cosines is rounded down where it is taken away
    self._across(y, link, not inward) => self._across(y, link, inward)
    unit/checker/reading/test_lipschitz.py::test_roots_are_rounded_one_way[cosines-False]
reading/lipschitz.py Lipschitz._lowered: a root of cosines is rounded down where it is added
    self._across(y, link, not inward) => self._across(y, link, inward)
    unit/checker/reading/test_lipschitz.py::test_roots_are_rounded_one_way[cosines-False]
reading/lipschitz.py Lipschitz._links: a cosine of two prototypes is rounded up
    norms = greatest * high if product > 0 else least * low => norms = least * low if product > 0 else greatest * high
    unit/checker/reading/test_lipschitz.py::test_cosines_of_prototypes_are_rounded_one_way[False]
reading/lipschitz.py Lipschitz._certain: ends need not be as stated
    holds(y) => True
    soundness/test_containment.py::test_ranges_lie_within_those_that_are_proved
reading/paradigms.py Activations.boxes_without: what is left out says something of neighbours
    [each for each in others if each is not dropped] => list(others)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/margin.py require_minimal: a sum that is left out still counts
    each is not statements[index] => True
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/evidence]
reading/paradigms.py Activations.box: patches without statements are forgotten
    self._outward.box(parts, patches) => self._outward.box(parts, max(1, len(groups)))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
least.py excludes: a gain exceeds the need
    min(gain, need) => gain
    unit/checker/test_least.py::test_a_great_gain_by_one_rival_is_none_by_another

# Origins.
origins.py Origin.statement: the squared distance is stated
    self.distance**2 => self.distance
    unit/checker/test_file_auditor.py::test_a_distance_is_stated_exactly_as_its_square_and_a_cosine_is_a_lower_end[distance]
origins.py Origin.statement: a cosine is an upper end
    PatchStatement(self.patch, self.prototype, self.cosine, most)
    => PatchStatement(self.patch, self.prototype, None, self.cosine if most is None else most)
    unit/checker/test_file_auditor.py::test_a_distance_is_stated_exactly_as_its_square_and_a_cosine_is_a_lower_end[cosine]
origins.py Origin.statement: it is about the first patch
    PatchStatement(self.patch, self.prototype, self.cosine, most)
    => PatchStatement(0, self.prototype, self.cosine, most)
    unit/checker/test_file_auditor.py::test_a_distance_is_stated_exactly_as_its_square_and_a_cosine_is_a_lower_end[distance]
origins.py read_origins: nothing has to be stated
    never not origins
    corpus/test_messages.py::test_what_is_refused_is_told_why[origins/empty]
origins.py read_origins: a prototype may stand twice
    first.prototype >= second.prototype => first.prototype > second.prototype
    corpus/test_messages.py::test_what_is_refused_is_told_why[origins/prototype]
origins.py judge_origins: the file may speak of another head or network
    never named != own
    unit/cli/test_origins.py::test_a_page_says_nothing_of_origins_that_are_about_something_else[command0]
origins.py _require_fit: every geometry has origins
    never head.geometry != 'euclidean' and head.geometry not in COSINES
    corpus/test_pictured.py::test_every_file_gets_its_outcome
origins.py _require_fit: a cosine stands for a distance
    never getattr(origin, stated) is None
    corpus/test_messages.py::test_what_is_refused_is_told_why[origins/cosine]
origins.py _require_fit: the head may lack the prototype
    never origin.prototype >= head.count
    corpus/test_messages.py::test_what_is_refused_is_told_why[origins/prototype]
origins.py _require_fit: the network may lack the patch
    never origin.patch >= network.patches
    corpus/test_messages.py::test_what_is_refused_is_told_why[origins/patch]
origins.py _of_picture: what holds of one origin holds of all
    _pictured(auditor, document, [origin], size) if each else together
    => _pictured(auditor, document, origins[:1], size)
    unit/checker/test_file_auditor.py::test_origins_are_judged_one_by_one_where_not_all_are_proved
origins.py _of_picture: a picture is asked about once
    len(origins) > 1 and together.reason == 'picture' => False
    unit/checker/test_file_auditor.py::test_origins_are_judged_one_by_one_where_not_all_are_proved
origins.py _pictured: all are about the first picture of the file
    origins[0].picture => document.origins[0].picture
    unit/checker/test_file_auditor.py::test_origins_of_a_picture_are_asked_together
reading/audit.py PlainAudit.prove_picture: nothing is evaluated
    self._subject.picture is None or self._evaluated() is None => self._subject.picture is None
    corpus/test_pictured.py::test_every_file_gets_its_outcome
auditor.py Auditor.pictured: the claim is not asked for
    side.prove_picture() => None
    unit/checker/test_file_auditor.py::test_origins_are_judged_one_by_one_where_not_all_are_proved

# Receptive fields.
receptive.py _windows: windows have no padding
    number * settings.stride[axis] - settings.padding[axis] => number * settings.stride[axis]
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _windows: dilation is left out
    range(first, first + kernel * dilation, dilation) => range(first, first + kernel)
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _windows: rows have the kernel's columns
    settings.kernel[axis] => settings.kernel[1]
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _windows: windows lie side by side
    number * settings.stride[axis] => number
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _of_layer: a sum sees what its first term sees
    (of[at if len(of) > 1 else 0] for of in read) => (of[at if len(of) > 1 else 0] for of in read[:1])
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _of_layer: a row is read where it lies after upsampling
    range(layer.settings.scale[axis]) => range(1)
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _of_layer: what is flattened sees the first row
    chain.from_iterable(read) => [read[0][0]]
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _hull: windows in the padding see the first pixel
    [(first, after) for first, after in intervals if first < after] => list(intervals)
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _hull: the last pixel is left out
    max((after for _, after in present)) => 1 + max((first for first, _ in present))
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _along: the picture's rows are seen as one
    (at, at + 1) => (0, network.shape[1 + axis])
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py receptive_fields: rows and columns are exchanged
    ReceptiveFields(_along(network, 0), _along(network, 1), network.shape[1:])
    => ReceptiveFields(_along(network, 1), _along(network, 0), network.shape[1:])
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py receptive_fields: windows may be as large as they like
    never steps > _MOST_STEPS
    unit/checker/test_receptive.py::test_windows_without_end_are_refused
receptive.py ReceptiveFields.whole: a patch that sees all rows sees all
    set(self.rows) == {(0, height)} and set(self.columns) == {(0, width)} => set(self.rows) == {(0, height)}
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _alone: what two patches see is seen alone
    seen[pixel] == 1 => seen[pixel] <= 2
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from
receptive.py _alone: it is not only of the own square
    max(0, min((pixel + 1) * count, end) - max(pixel * count, start)) => count
    unit/checker/test_receptive.py::test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from

# Pictures and networks.
read/pictures.py _plus_nearest: c is preferred to b
    up <= corner => up < corner
    unit/checker/read/test_pictures.py::test_all_filters_over_all_bytes[1-300]
read/pictures.py _chunks: a damaged chunk is read
    never zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big")
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/picture]
read/pictures.py read_png: channels are rows of pixels
    lines[start + channel : start + length - 1 : stored]
    => lines[start + channel * columns : start + (channel + 1) * columns]
    unit/checker/read/test_pictures.py::test_reads_every_filter[filters0-shape1]
read/pictures.py _plus_above: bytes are carried into the next one
    (x & lower) + (b & lower) ^ (x ^ b) & ~lower => x + b & (1 << 8 * len(row)) - 1
    unit/checker/read/test_pictures.py::test_reads_every_filter[filters2-shape0]
read/pictures.py _inflated: something may follow the stream
    without inflating.unused_data
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/picture]
read/pictures.py Pictures.find: every digest is that of the first picture
    self._kept.get(key) => self._kept[next(iter(self._kept))]
    unit/checker/read/test_pictures.py::test_a_row_of_a_tensor_and_a_png_file_have_the_same_digest
read/pictures.py Pictures._again: another picture is found where a file has changed
    never picture is None or picture.key != key
    unit/checker/read/test_pictures.py::test_a_picture_that_is_not_kept_is_read_again_and_has_to_be_the_same
read/pictures.py Pictures.find: a file that cannot be used is forgotten
    always not self._unread
    unit/checker/read/test_pictures.py::test_a_file_that_cannot_be_used_is_left_out_of_account
read/pictures.py Picture.key: rows and columns are exchanged
    b'verale.picture.v1 %d %d %d\n' % self.shape => b'verale.picture.v1 %d %d %d\n' % self.shape[::-1]
    unit/checker/read/test_pictures.py::test_reads_every_filter[filters0-shape0]
read/pictures.py _opened: floats are bytes
    never tensor.dtype != "U8"
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/picture]
read/network_file.py _layers: a layer that nobody reads is left
    layers[:-1] => []
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/network]
read/formats.py such: a field has whatever value
    never not holds(result)
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/head]
read/network_file.py _input: a picture may be divided by minus one
    never min(std) <= 0
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/network]
read/network_file.py _windows: the last window is left out
    room // stride + 1 => max(1, room // stride)
    unit/checker/read/test_formats.py::test_reads_a_small_network
read/network_file.py _check_tensors: a magnitude less than the bias
    never any(most < abs(bias) for most, bias in sizes)
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/network]
network/functions.py Ends.centred: the radius is to the lower end
    high - centre => high - centre - (high > centre)
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/functions.py Ends.mapped: lower ends go to both
    list(map(high, self.upper)) => list(map(high, self.lower))
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/enclosure.py Sums.of: radii are left out
    ceil_shift(value, -coarse) + cut => cut
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/enclosure.py Sums.of: radii are rounded down
    [-(-radius >> raised) for radius in radii] => [radius >> raised for radius in radii]
    unit/checker/network/test_enclosure.py::test_radii_are_rounded_up[arb]
network/enclosure.py Sums._scaled: a weight below 0 leaves the ends where they are
    1 if weight >= 0 else -1 => 1
    unit/checker/network/test_enclosure.py::test_a_channel_times_a_weight[arb-{}-signs]
network/enclosure.py Sums._scaled: a bias is rounded down at both ends
    ceil_at(bias, self._bits + places) => floor_at(bias, self._bits + places)
    unit/checker/network/test_enclosure.py::test_a_bias_between_units_of_the_grid_is_held[arb]
network/enclosure.py Sums.__init__: what lies outside is not read
    without settings.padding == (0, 0)
    unit/checker/network/test_enclosure.py::test_a_channel_times_a_weight[arb-{'padding': [1, 0]}-signs]
network/enclosure.py Sums.of: floors are not made up for
    value + each + 2 => value + each
    corpus/test_pictured.py::test_every_case_gets_its_outcome[beyond]
network/functions.py places: the picture goes on at its other side
    0 <= y < height and 0 <= x < width => 0 <= y < height
    corpus/test_pictured.py::test_every_case_gets_its_outcome[euclidean]
network/enclosure.py Sums.of: the bias is left out
    without bias
    corpus/test_pictured.py::test_every_case_gets_its_outcome[euclidean]
network/functions.py _sigmoid: it is the same on both sides of 0
    x >= 0 => True
    corpus/test_pictured.py::test_every_case_gets_its_outcome[large]
network/functions.py _tanh: it is a sigmoid of what is not doubled
    [doubled] => read
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-True]
network/functions.py _clamp: the lower end is rounded up
    min(most, max(least, x)) => min(high, max(low, x))
    unit/checker/network/test_enclosure.py::test_what_few_random_networks_have[arb-ends of a clamp]
network/functions.py _multiply: signs are left out of account
    (low * least, low * most, high * least, high * most) => (low * least, high * most)
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/functions.py _repeated: a factor of channels is one of places
    small[at] == 1 => at == 0
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/functions.py _gaussian: the upper end is the lower one's
    most - 2 * (low - high) // 5 => most
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-True]
network/functions.py _inverse_root: the root is exact
    isqrt(one // low) + 1 => isqrt(one // low)
    unit/checker/network/test_enclosure.py::test_an_inverse_root_of_small_and_large_numbers[arb-1e-12]
network/functions.py _inverse_root: of what may be 0
    never min(read[0].lower) <= 0
    unit/checker/network/test_enclosure.py::test_an_inverse_root_of_what_is_not_positive_is_not_proved[arb-0.0]
arb.py Arb._normal: the argument is not scaled
    ball / arb(2).sqrt() => ball
    unit/checker/network/test_enclosure.py::test_a_steep_normal_distribution[arb]
series.py Mpmath._normal: what is left out of the series is nothing
    2 * size > odd + 2 or _ends(term, precision)[1] > 1 => odd < 40
    unit/checker/network/test_enclosure.py::test_functions_far_from_zero_and_near[mpmath-7.0-gaussian]
network/functions.py _avg_pool2d: what lies outside is what is least
    _pooled(layer, read[0].upper, lambda _: 0, lambda part: -(-sum(part) // size))
    => _pooled(layer, read[0].upper, min, lambda part: -(-sum(part) // size))
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/functions.py _max_pool2d: the upper end is the least entry's
    _pooled(layer, read[0].upper, min, max) => _pooled(layer, read[0].upper, min, min)
    corpus/test_pictured.py::test_every_case_gets_its_outcome[euclidean]
network/enclosure.py Enclosure._table: upper ends are rounded down
    ceil_at(x, self.bits) => floor_at(x, self.bits)
    unit/checker/network/test_enclosure.py::test_holds_what_random_networks_give[arb-False]
network/enclosure.py Enclosure.latents: the last picture's latents are every picture's
    never self._found[0] != picture
    unit/checker/network/test_enclosure.py::test_weights_that_are_not_kept_are_converted_again[arb]
network/binary32.py share: a part of the roundings
    -abs(value) * count => -abs(value) * (count - 1)
    unit/checker/network/test_binary32.py::test_the_worst_roundings_of_one_sum_stay_inside_and_nearly_reach_the_ends[arb-None-F32]
network/binary32.py roundings: what folding hides is not counted
    terms + _FOLDED => terms
    unit/checker/network/test_binary32.py::test_roundings_that_all_go_to_one_side_leave_no_end
network/binary32.py roundings: weights that are rounded are not
    without (not known)
    unit/checker/network/test_binary32.py::test_the_worst_roundings_of_one_sum_stay_inside_and_nearly_reach_the_ends[arb-None-F64]
network/binary32.py rounded: a mean is divided exactly
    layer.terms + 2 => layer.terms // 2
    unit/checker/network/test_binary32.py::test_roundings_that_all_go_to_one_side_leave_no_end
network/binary32.py rounded: its ends are exact
    share(ceil_at(abs(end), bits), 1) + 1 => 0
    unit/checker/network/test_binary32.py::test_the_ends_of_a_clamp_are_rounded[arb-ends0]
network/binary32.py rounded: the negative side of a leaky relu is exact
    low - share(low, 2) - 1 => low
    unit/checker/network/test_binary32.py::test_roundings_that_all_go_to_one_side_leave_no_end
network/binary32.py require_no_overflow: what is read is as small as it likes
    never 2 * ((layer.terms + 1) * weight * read + size) > LARGEST or weight > LARGEST
    unit/checker/network/test_binary32.py::test_refuses_what_it_cannot_bound
network/binary32.py require_no_overflow: what a file excludes is claimed
    never size > _GREATEST or weight > _GREATEST
    corpus/test_pictured.py::test_every_case_gets_its_outcome[excluded]
network/binary32.py _ulps: a unit in the last place is half of one
    -abs(value) * 2 * _ULPS => -abs(value) * _ULPS
    unit/checker/network/test_binary32.py::test_the_worst_function_stays_inside_and_no_end_leaves_its_range[arb-sigmoid]
network/binary32.py normalised: a quotient is exact
    size / std * three => size / std * 0
    unit/checker/network/test_binary32.py::test_the_worst_roundings_of_one_sum_stay_inside_and_nearly_reach_the_ends[arb-None-F32]
network/enclosure.py Sums.of: the bias is not rounded
    share(size, count) + lost => lost
    unit/checker/network/test_binary32.py::test_the_worst_roundings_of_one_sum_stay_inside_and_nearly_reach_the_ends[arb-0.7-F32]
network/enclosure.py Sums.__init__: what is cut off of a weight does not widen
    0 if self._exact else 1 => 0
    unit/checker/network/test_enclosure.py::test_sums_hold_what_is_cut_off_of_a_weight_and_of_a_bias[arb]
network/enclosure.py Sums.__init__: a bias is rounded up
    floor_at(Fraction(value), bits + self._places) => ceil_at(Fraction(value), bits + self._places)
    unit/checker/network/test_enclosure.py::test_sums_hold_what_is_cut_off_of_a_weight_and_of_a_bias[arb]
network/enclosure.py Sums.__init__: what is cut off of a weight of 2^1000 is nothing
    not cut => True
    unit/checker/network/test_enclosure.py::test_weights_of_all_sizes[arb-larger0]
reading/space.py distances_over: nothing is nearer than the nearest end
    max(0, low - entry, entry - high) => max(low - entry, entry - high)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/space.py products_over: upper ends are those of positive entries
    high if entry > 0 else low => high
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/evaluation.py Evaluation._length: the longest latent is the shortest
    sqrt_ends(far) => sqrt_ends(near)
    unit/checker/reading/test_evaluation.py::test_holds_everywhere_in_a_box[cosine-quadratic-scaled-10-arb]
reading/evaluation.py Evaluation._mass: the others are as small as they can be
    low[0] + most - high[0] => low[0] + least - low[0]
    unit/checker/reading/test_evaluation.py::test_holds_everywhere_in_a_box[softmax-4-arb]
reading/evaluation.py require_true: what is not decided is true
    not decided => decided is False
    unit/checker/reading/test_evaluation.py::test_what_cannot_be_decided_is_not_proved
reading/evaluation.py require_domain: a latent may be as long as it likes
    never radius is not None and sum(max(-least, most) ** 2 for least, most in ends) > radius
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/outside]

# What is known of patches.
reading/space.py ball: a cube has the ball of an edge
    without head.depth
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/space.py _masses: the greatest mass is an equal share
    others * ratio => others * one
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/top_k]
reading/space.py ball: it is the greater one of two
    min(balls, key=lambda each: each[0]) => max(balls, key=lambda each: each[0])
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/space.py ball: it is the radius's wherever there is one
    min(balls, key=lambda each: each[0]) => balls[0]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/space.py ball: it is the box's wherever there is one
    min(balls, key=lambda each: each[0]) => balls[-1]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/ball]
reading/space.py ball: of two alike it is the box's
    min(balls, key=lambda each: each[0]) => min(reversed(balls), key=lambda each: each[0])
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/balls]
reading/space.py Space.__init__: a norm's upper end is its lower end
    sqrt_ends(square << 2 * self.bits) => (sqrt_ends(square << 2 * self.bits)[0],) * 2
    soundness/test_containment.py::test_ranges_contain_the_truth
reading/paradigms.py Activations.boxes_without: other patches are forgotten
    {**parts, dropped.patch: self._part(left)} => {dropped.patch: self._part(left)}
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/not]
reading/masses.py Left.most: a stated mass is at most what is left
    self.low[k] + self.rest => self.rest
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/simplex]
reading/masses.py Simplex.stated: where all masses are stated, the others say nothing of the lower end
    max(low, missing + left.high[k]) if every == count else low => low
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/simplex]
reading/masses.py Left.most: a stated mass may be what its statement says, whatever the others leave
    min(self.high[k], self.low[k] + self.rest) => self.high[k]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/simplex]
reading/masses.py Against.by_prices: patches without statements pay nothing
    total += count * max(0, max(excess, default=0)) => total += max(0, max(excess, default=0))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/assignment]
reading/masses.py Against.by_prices: prices of prototypes that gain nothing are paid
    sum((price for _, _, price in paid)) => sum(ceil_at(price, self._unit) for price in prices.values())
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/assignment]
reading/masses.py heaviest_matching: a partner is lost
    partner[before[column]] => entering
    unit/checker/reading/test_assignment.py::test_random_prices_stay_below_the_truth_and_the_best_are_matched
reading/quadratic.py Joint.target: a scale is forgotten
    -d * scale.rows[0][j] => -d
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/quadratic.py Joint.target: what a share leaves of a cosine is forgotten
    Fraction(sum(apart), 1 << places + 2 * space.bits) => error
    soundness/test_containment.py::test_ranges_contain_the_truth
reading/quadratic.py Joint.provable: without a statement, the domain's ranges are statements
    left
    => left + [PatchStatement(0, j, *(Fraction(side[j], 1 << self._space.bits)
               for side in (self._space.domain.lower, self._space.domain.upper))) for j in range(self._space.head.count)
               if all(s.prototype != j for s in left)]
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/joint]
reading/facts.py Facts.least: a bound forgets the target's square
    without square << self.lift
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/cap]
reading/facts.py Facts.least: the ends of a fact change places
    low if w > 0 else high => high if w > 0 else low
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/cap]
reading/facts.py Facts.least: a product is not halved
    without self.parts
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/quadratic.py _Patch._kept: the other end that is stated counts
    max(bound, -stated[1]) => max(bound, -stated[0])
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/raw]
reading/facts.py Facts.squares: a target's square is not moved to the origin
    each - 2 * entry + square => each
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/quadratic.py QuadraticRule.ranges: the domain is dropped
    Ranges(lower, upper).met(self.space.domain) => Ranges(lower, upper)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/open]
reading/quadratic.py QuadraticRule.pooled: patches without a statement are not looked at
    any(left[column] for column in columns) => all(left[column] for column in columns)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/mask]
reading/quadratic.py QuadraticRule._least: the patch that proves the most decides
    least[k] = bounds[k][patch] => least[k] = max(bounds[k].values())
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/quadratic.py Joint.margins: a combination's shares are whole numbers
    least / unit => least
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/quadratic.py QuadraticRule.ranges: at most seven statements are taken together
    self._patch(statements) => self._patch(statements[:7])
    soundness/test_containment.py::test_eight_statements_about_a_patch_count
reading/facts.py _moved: squares add up as lengths do
    ceil_shift((isqrt(square << space.bits) + 1 + length) ** 2, -space.bits)
    => square + ceil_shift(length ** 2, -space.bits)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/weights.py _Ascent._vertex: the weights leave out how far the latent may be
    [one - kappa * other for one, other in zip(self._tau, foot, strict=True)] => list(self._tau)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/weights.py Weights.__init__: floats are all there is
    FLOATS if quick else DECIMALS => FLOATS
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
reading/facts.py enclosures: a target lies in the span of the basis
    without radius * (isqrt(max(0, rest)) + 1)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/facts.py enclosures: the latent lies above the foot
    without across * (isqrt(share) + 1)
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/facts.py enclosures: a basis is orthonormal
    without -share * excess
    unit/checker/reading/test_quadratic.py::test_a_ball_holds_what_is_true_whatever_the_frame[euclidean]
reading/facts.py Facts.sums: products of prototypes are those of differences from the base
    entry - less => entry
    corpus/test_corpora.py::test_every_case_gets_its_verdict[reject/margin]
reading/weights.py _Ascent.ascend: the first weights are not improved
    range(self._precision.rounds * (len(self.weights) + 1)) => ()
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/hypersphere]
reading/points.py points: a point may break what is stated
    without satisfies(facts, point)
    unit/checker/reading/test_quadratic.py::test_nothing_is_found_where_statements_contradict
reading/points.py exact_inverse: the adjugate is not divided
    (grown * entry + a * b) // scale => grown * entry + a * b
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]

# Binary32.
deployment.py gamma: roundings add up
    without 1 - lost
    unit/checker/reading/test_deployment.py::test_gamma_is_refused_where_it_says_nothing
reading/deployment.py Losses.__init__: a sum loses what a term loses
    head.depth + 3 + 4 * deployment.sqrt + 3 => 3 + 4 * deployment.sqrt + 3
    soundness/test_deployed.py::test_no_more_is_proved_than_the_adversary_computes
reading/deployment.py Computed._apart: similarities under means are exact
    without self._rounding(greatest)
    soundness/test_deployed.py::test_no_more_is_proved_than_the_adversary_computes
reading/deployment.py Computed._similar: the last operations are exact
    without self._rounding(most)
    soundness/test_deployed.py::test_no_more_is_proved_than_the_adversary_computes
reading/deployment.py Computed._off: the argument of a similarity is exact
    without _part(self._share, abs(x))
    soundness/test_deployed.py::test_no_more_is_proved_than_the_adversary_computes
reading/deployment.py Losses.least: nearer distances lose less
    never low << self._bits < turn * turn
    unit/checker/reading/test_deployment.py::test_what_is_farther_is_not_computed_as_nearer_than_the_least[expanded]
reading/deployment.py deployed_margins: a rival's logit is exact
    without roundings[rival]
    soundness/test_deployed.py::test_no_more_is_proved_than_the_adversary_computes

# What is read.
read/formats.py Tensor.check_finite: great numbers below 0 are not looked at
    without b'\xff' in uppermost
    unit/checker/read/test_formats.py::test_refuses_what_is_not_finite[-inf-F32]
read/formats.py index: a truth value is an integer
    type(value) is not int => not isinstance(value, int)
    unit/checker/read/test_formats.py::test_index_refuses[True]
read/formats.py nullable: a missing end is 0
    None if value is None else read(value, where) => Fraction(0) if value is None else read(value, where)
    unit/checker/read/test_formats.py::test_reads_a_euclidean_head
read/formats.py _object: of two fields of one name the last one counts
    never len(value) != len(pairs)
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/repeated]
read/formats.py read_tensors: a header may be longer than the file
    never at != len(stored)
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/head]
read/head_file.py read_head_file: the digest is of the description alone
    hashlib.sha256(data) => hashlib.sha256(repr(description).encode('utf-8'))
    unit/checker/read/test_formats.py::test_reads_a_euclidean_head
read/head_file.py HeadFile._check_domain: a domain may be empty
    without self.depth
    unit/checker/read/test_formats.py::test_a_ball_that_misses_the_box_is_refused_and_one_that_touches_it_is_not
read/head_file.py HeadFile._check_tensors: numbers may be infinite
    without tensor.check_finite()
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/head]
read/head_file.py HeadFile._check_pooling: means of distances go with every readout
    kind.startswith('max_minus') and self.readout.kind != 'linear'
    => kind == 'max_minus_mean' and self.readout.kind != 'linear'
    unit/checker/read/test_formats.py::test_parts_go_together_as_the_specification_says
head.py _mask: both banks look everywhere
    ((0,),) * token + ((1,),) * (file.count - token) => ((0, 1),) * file.count
    corpus/test_corpora.py::test_every_case_gets_its_verdict[accept/projection]
read/latents.py Latents._digests: the digest leaves out the shape
    f'verale.latents.v1 {self._file.patches} {self._file.depth}\n'.encode('ascii') => b'verale.latents.v1\n'
    unit/checker/read/test_formats.py::test_finds_every_image_by_its_values_in_any_layout[NLD]
read/latents.py read_latents_file: numbers may be infinite
    without tensor.check_finite()
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/latents]
read/network_file.py _check_tensors: weights may be infinite
    without tensor.check_finite()
    corpus/test_messages.py::test_what_is_refused_is_told_why[picture/network]
read/latents.py Latents.find: the first image is taken
    self._index_of[digest] => 0
    unit/checker/read/test_formats.py::test_finds_every_image_by_its_values_in_any_layout[NLD]
read/latents.py Latents._digests: the sign of a zero is lost
    values.tobytes() => array('d', [value + 0.0 for value in values]).tobytes()
    unit/checker/read/test_formats.py::test_finds_every_image_by_its_values_in_any_layout[NLD]
certificate.py Certificate._check_statement: clauses may repeat
    type => id
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/clause]
certificate.py Certificate.elements: of each prototype one statement is counted
    dict(sorted(named.items())) => dict.fromkeys(sorted(named), 1)
    unit/checker/test_auditor.py::test_a_true_certificate_is_proved
certificate.py Certificate._check_parts: every readout has it
    (similarity.name, head.pooling, head.readout) == (name, 'max', 'linear')
    => (similarity.name, head.pooling) == (name, 'max')
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/joint]
certificate.py Certificate._check_parts: every pooling has it
    (similarity.name, head.pooling, head.readout) == (name, 'max', 'linear')
    => (similarity.name, head.readout) == (name, 'linear')
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/joint]
certificate.py Certificate.check_against: mixed is there for inner products
    head.geometry not in PARADIGMS[self.paradigm]
    => head.geometry not in (*PARADIGMS[self.paradigm], *['inner_product'] * (self.paradigm == 'mixed'))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/mixed]
certificate.py Certificate.check_against: mixed is there for masses
    head.geometry not in PARADIGMS[self.paradigm]
    => head.geometry not in (*PARADIGMS[self.paradigm], *['softmax'] * (self.paradigm == 'mixed'))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/mixed]
certificate.py Certificate.check_against: assignment is there for cosines
    head.geometry not in PARADIGMS[self.paradigm]
    => head.geometry not in (*PARADIGMS[self.paradigm], *['cosine'] * (self.paradigm == 'assignment'))
    corpus/test_messages.py::test_what_is_refused_is_told_why[malformed/assignment]
certificate.py Certificate.check_against: assignment is there for inner products
    head.geometry not in PARADIGMS[self.paradigm]
    => head.geometry not in (*PARADIGMS[self.paradigm], *['inner_product'] * (self.paradigm == 'assignment'))
    corpus/test_corpora.py::test_every_case_gets_its_verdict[malformed/assignment]

# The steps of an audit, and what a user sees of them.
verdict.py Verdict.claims: every claim is proved
    'proved' if claim in self.by else 'not checked' if claim in claimed else 'not claimed'
    => 'proved' if claim in claimed else 'not claimed'
    unit/checker/test_verdict.py::test_lines
reading/audit.py PlainAudit._entailment: minimality is proved with entailment
    proof.claims.add('entailment') => proof.claims.update({'entailment', 'minimality'})
    unit/checker/test_auditor.py::test_without_latents_the_instance_is_not_checked
reading/audit.py PlainAudit._evaluated: the instance is proved before it is tried
    evaluation = self._satisfied(latents)
    self.proof.claims.add(claim)
    => self.proof.claims.add(claim)
    evaluation = self._satisfied(latents)
    unit/checker/reading/test_evaluation.py::test_the_domain
subject.py Subjects.of: statements come before the subject
    _require('head', certificate.head, self.head.sha256)
    => certificate.check_against(self.head)
    _require('head', certificate.head, self.head.sha256)
    unit/checker/test_auditor.py::test_the_steps_run_in_their_order[arb]
subject.py Subjects.of: statements come before the image
    _require('head', certificate.head, self.head.sha256)
    => _require('head', certificate.head, self.head.sha256)
    certificate.check_against(self.head)
    unit/checker/test_auditor.py::test_the_steps_run_in_their_order[arb]
subject.py _require: whatever the head is
    never named != digest
    unit/checker/test_auditor.py::test_another_head[arb]
auditor.py Auditor._judge: the rules are asked only where the other refutes
    verdict.status in _DECIDED or verdict.false or verdict.spent
    => verdict.status is not Status.REFUTED
    unit/checker/proved/test_audit.py::test_minimality_that_is_not_covered_is_proved_by_arb_and_the_verdict_says_so
auditor.py Auditor._judge: who proves depends on how fast the processor is
    without verdict.spent
    unit/checker/proved/test_audit.py::test_who_proves_does_not_depend_on_how_fast_the_processor_is
auditor.py Auditor.__init__: without the program that is named the rules prove
    without os.environ.get(VARIABLE)
    unit/checker/proved/test_audit.py::test_a_variable_that_names_no_executable_is_an_error[proved-or-arb]
auditor.py together: of two that contradict each other one is believed
    never any((_contradict(*one, *two) for one, two in permutations(verdicts.items(), 2)))
    unit/checker/proved/test_audit.py::test_kernels_that_contradict_each_other_prove_nothing
auditor.py _contradict: what one refutes another may prove
    never two.status is Status.REFUTED and 'entailment' in one.by
    unit/checker/proved/test_audit.py::test_kernels_that_contradict_each_other_prove_nothing
auditor.py _contradict: what is false of the latents another may prove
    never two.false and two.reason == 'instance' and (one.status is Status.REFUTED or 'instance' in one.by)
    unit/checker/proved/test_audit.py::test_kernels_that_contradict_each_other_prove_nothing
auditor.py _contradict: the same rules may give two verdicts
    without differ
    unit/checker/test_auditor.py::test_a_true_certificate_is_proved[euclidean-both]
auditor.py together: what one proves each of them does
    all((claim in verdict.by for verdict in others)) => True
    unit/checker/proved/test_audit.py::test_a_kernel_that_stops_at_the_limit_contradicts_no_other[False]
auditor.py together: what was begun is proved
    asked <= by.keys() => by
    unit/checker/proved/test_audit.py::test_what_neither_proves_has_the_reason_of_the_rules
auditor.py together: the rules vouch for what the other proved
    {claim: name for verdict in (*others, first) for claim, name in verdict.by.items()}
    => {claim: name for verdict in others for claim, name in verdict.by.items()}
    unit/checker/proved/test_audit.py::test_minimality_that_is_not_covered_is_proved_by_arb_and_the_verdict_says_so
least.py _leaves: one part of a cell is enough
    without left.append(replace(cell, u1=above) if ceiling else replace(cell, v1=above))
    unit/checker/test_least.py::test_what_is_claimed_is_proved_and_no_more
file_auditor.py FileAuditor.__init__: pictures are not read
    picture_files(pictures, opener) => (None, None)
    unit/checker/test_file_auditor.py::test_proves_a_picture_from_files
limit.py allowed: each byte allows what a megabyte does
    max(1, -(-size // _MEGABYTE)) => size
    unit/checker/test_limits.py::test_larger_files_may_take_longer
limit.py Clock.look: a proof takes as long as it likes
    self.taken > self._seconds => False
    unit/checker/test_limits.py::test_no_machine_is_so_fast_that_a_limit_is_not_kept[0.0001]
limit.py Clock.start: short limits are looked at as seldom as long ones
    min(_BETWEEN, seconds / 10) => _BETWEEN
    unit/checker/test_limits.py::test_no_machine_is_so_fast_that_a_limit_is_not_kept[0.0001]
limit.py Clock.look: memory is not looked at
    _resident() - self._before => 0
    unit/checker/test_limits.py::test_what_was_taken_since_the_start_is_limited
limit.py Clock.keep: numbers take no memory
    size * numbers => 0
    unit/checker/test_limits.py::test_what_was_taken_since_the_start_is_limited
read/pictures.py opened_files: time that was taken is not counted
    taken += stored.taken => taken += 0
    unit/checker/read/test_pictures.py::test_the_time_of_reading_is_limited_by_what_is_read
verdict.py claim_in_words: whatever is proved of a picture is proved in real arithmetic
    _COMPUTED.get(record.get('arithmetic') or '', '') => 'real arithmetic'
    unit/checker/test_verdict.py::test_what_a_claim_is_about_stands_beside_it
verdict.py claim_in_words: how the deployed head computes is not told
    never how is not None
    unit/checker/test_verdict.py::test_what_a_claim_is_about_stands_beside_it
verdict.py Verdict.record: an arithmetic is real
    read.arithmetic => read.arithmetic and 'real'
    unit/checker/test_verdict.py::test_what_a_claim_is_about_stands_beside_it
verdict.py line_of: a name may have two lines
    map(one_field, parts) => parts
    unit/checker/test_verdict.py::test_lines
verdict.py Verdict.record: a margin is told that the certificate does not state
    stated or self.margins => self.margins
    unit/checker/test_verdict.py::test_the_margin_is_that_of_the_certificate_where_all_are_proved
verdict.py _at_most: a margin is told that is not proved
    min(margin, stated) => stated
    unit/checker/test_verdict.py::test_the_margin_is_rounded_down_and_reads_as_everywhere[margin0-0.01234]
file_auditor.py _digest_of_files: a name may look like several files
    name.replace(b'\\', b'\\\\').replace(b'\n', b'\\n').replace(b'\r', b'\\r') => name
    unit/checker/test_file_auditor.py::test_no_folder_of_pictures_has_the_digest_of_another_one
file_auditor.py _digest_of_files: a name that is escaped looks like one that is not
    without b'\\' * (escaped != name)
    unit/checker/test_file_auditor.py::test_a_folder_of_pictures_has_the_digest_that_the_documented_command_prints
file_auditor.py _digest_of_files: a backslash is not escaped
    name.replace(b'\\', b'\\\\') => name
    unit/checker/test_file_auditor.py::test_a_folder_of_pictures_has_the_digest_that_the_documented_command_prints
file_auditor.py FileAuditor.audit: an audited file is read again by its name
    _read(path, LARGEST, self._opener) if data is None else data => _read(path, LARGEST, self._opener)
    unit/checker/test_file_auditor.py::test_bytes_are_audited_under_any_name
verdict.py print_line: a line may end in its middle
    printable(line) => line
    unit/checker/test_verdict.py::test_a_line_is_one_line
verdict.py standard_streams: a verdict that is printed nowhere is one
    never printed.failure is not None
    unit/checker/test_streams.py::test_what_is_not_printed_whole_is_not_done[0]
verdict.py _Sink.write: what takes nothing is a reader who left
    self._takes, self.failure = False, error => self._takes = False
    unit/checker/test_streams.py::test_what_is_not_printed_whole_is_not_done[0]
__main__.py main: the code is that of the last certificate
    most_severe(codes) => codes[-1]
    unit/checker/test_verdict.py::test_one_bad_file_never_stops_the_rest

# The proved checker.
proved/text.py _integers: signs are lost
    tuple(values) => tuple(map(abs, values))
    unit/checker/proved/test_text.py::test_a_head_as_it_is_written
proved/text.py addition_text: prices are nothing
    {'assignment': b'prices', 'joint': b'joint'} => {'joint': b'joint'}
    unit/checker/proved/test_text.py::test_texts_of_the_corpora_are_those_of_the_independent_writer
proved/text.py _layer: a clamp has one end
    settings.upper => settings.lower
    unit/checker/proved/test_text.py::test_texts_are_those_of_the_independent_writer[every kind]
proved/text.py _affine: weight and bias have two units
    _raised(bias, bits)[0] => bias.rows[0]
    unit/checker/proved/test_text.py::test_texts_are_those_of_the_independent_writer[small]
proved/text.py _weights: there is no bias
    bias is None => True
    unit/checker/proved/test_text.py::test_texts_are_those_of_the_independent_writer[small]
proved/claims.py ProvedClaims.holds: a picture is what is entailed
    'pictured' => 'entails'
    unit/checker/proved/test_text.py::test_a_picture_is_proved_where_the_program_says_so_and_only_there
proved/claims.py ProvedAudit.prove_picture: a picture is proved unseen
    without self._require_true("picture", picture)
    unit/checker/proved/test_text.py::test_a_picture_is_proved_where_the_program_says_so_and_only_there
proved/claims.py ProvedClaims.holds: an instance is what is refuted
    'instance' => 'refuted'
    unit/checker/proved/test_audit.py::test_what_it_proves_is_proved
proved/claims.py ProvedClaims.minimal: minimal is what is entailed
    'minimal' => 'entails'
    unit/checker/proved/test_audit.py::test_minimality_is_asked_where_it_is_claimed
proved/claims.py ProvedAudit.prove: an instance is proved unseen
    without self._require_true("instance", subject.image)
    unit/checker/proved/test_audit.py::test_what_it_proves_is_proved
proved/claims.py ProvedAudit._uncovered_minimality: minimality is proved unseen
    self._claims.minimal(certificate) => True
    unit/checker/proved/test_audit.py::test_minimality_is_asked_where_it_is_claimed
proved/claims.py ProvedAudit._uncovered_minimality: a statement may be unneeded
    never not self._claims.needed(certificate, number)
    unit/checker/proved/test_audit.py::test_the_first_statement_that_is_not_proved_true_or_needed_is_named
proved/dialogue.py Dialogue.ask: an answer may go on
    _ANSWER.fullmatch => _ANSWER.match
    unit/checker/proved/test_dialogue.py::test_an_answer_is_to_what_was_asked[entailment_hints-hints: 1\\t2]
proved/program.py _digest: the digest is of the path
    Path(path).read_bytes => path.encode
    unit/checker/proved/test_dialogue.py::test_answers_in_order
proved/program.py find_executable: a relative path leads into the current folder
    never named and (not os.path.isabs(named))
    unit/checker/proved/test_dialogue.py::test_a_relative_path_is_refused[fake]
proved/program.py Program.start: what runs is not what was digested
    never hashlib.sha256(data).hexdigest() != self.sha256
    unit/checker/proved/test_dialogue.py::test_an_executable_that_changes_is_refused
proved/program.py Program.start: another script is sent than was digested
    b'%x\n' % len(data) + data => b'%x\n' % len(data) + data.upper()
    unit/checker/proved/test_audit.py::test_without_an_executable_the_script_proves_and_the_verdict_says_so
proved/script_host.py _said: what is no text is told as one
    isinstance(said, str) => True
    unit/checker/proved/test_dialogue.py::test_what_is_no_text_takes_too_much_or_fails_proves_nothing
proved/claims.py ProvedClaims._begun: a child of a fork asks its parent's program
    without not self._dialogue.is_open
    unit/checker/test_auditor.py::test_a_pool_that_is_forked_after_it_was_used
auditor.py Exclusive.alone: two threads are in at once
    self._locks.setdefault(os.getpid(), RLock()) => nullcontext()
    unit/checker/test_auditor.py::test_threads[executable-proved-or-arb]
proved/program.py find_program: the script takes the place of a program that is named
    without os.environ.get(VARIABLE)
    unit/checker/proved/test_audit.py::test_a_variable_that_names_no_executable_is_an_error[proved]
"""

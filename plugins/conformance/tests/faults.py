"""The faults that the kit finds: in which component of `faulty`, by which check, and what the message says.

The reference shows these messages beside the checks. ` … ` stands for what depends on the machine, on chance or
on what is installed.
"""

import fnmatch

EXPLAINERS = {
    "GivesNothingButNaN": (
        "some_rows_have_an_explanation",
        "gives-nothing-but-na-n on array: every vector is nothing but NaN, which is no explanation. Look where NaN "
        "comes from; where there is no explanation to find, say so in `remarks`.",
    ),
    "FindsNothing": (
        "some_rows_have_an_explanation",
        "finds-nothing: no row of any situation has an explanation. Look where NaN comes from; where there is no "
        "explanation to find, say so in `remarks`.",
    ),
    "TakesAnyWidth": (
        "rows_of_another_width_are_refused",
        "takes-any-width on array: X has one column instead of four, and nothing was raised; expected a "
        "FaithkitError. Use faithkit.plugin.Encoder(background), which checks both, or compare the shapes.",
    ),
    "HoldsWhatCannotBeSent": (
        "explanations_are_storable",
        "holds-what-cannot-be-sent on array: the explanations do not survive pickle: … Hold arrays, frames, rules and "
        "JSON values: convert others with tolist(), sorted() or str().",
    ),
    "CrashesOnSomeFrames": (
        "explains_frame_of_three_classes",
        "crashes-on-some-frames on frame_of_three_classes: KeyError: 'no such column'. Explain it, or "
        "raise a FaithkitError that says what the explainer needs instead.",
    ),
    "RefusesEverything": (
        "explains_something",
        "refuses-everything: it explains none of the situations. array: today is Sunday.; … Explain at "
        "least one of them, or correct the `inputs` of its Component.",
    ),
    "SaysNumbersAndRefusesThem": (
        "declared_predictions_are_explained",
        "says-numbers-and-refuses-them: it declares numbers, but explains no situation with "
        "numbers. array_of_numbers: a class is needed.; linear_model_of_numbers: a class is "
        "needed.; mixed_frame_of_numbers: a class is needed. Explain at least one of them, or leave"
        ' "numbers" out of its `outcomes`.',
    ),
    "SaysUnknownOutcomes": (
        "declared_predictions_are_explained",
        "says-unknown-outcomes: outcomes are ('labels', 'regression'); expected a tuple of 'labels', "
        "'numbers' or 'scores'. Say (\"labels\", \"numbers\"), or nothing.",
    ),
    "FitReturnsNone": (
        "fit_returns_self",
        "fit-returns-none on array: fit returned a NoneType instead of the explainer. End fit with "
        "`return self`.",
    ),
    "DropsARow": (
        "one_explanation_per_row",
        "drops-a-row on array: explain returned 5 explanations for 6 rows; expected one per row. Mark "
        "rows without an explanation in `missing`.",
    ),
    "ReturnsAnArray": (
        "one_explanation_per_row",
        "returns-an-array on array: explain returned a ndarray; expected Explanations. Wrap vectors in "
        "faithkit.Explanations.vectors, rules in .of.",
    ),
    "HasNoHash": (
        "explanations_can_be_compared",
        "has-no-hash on array: identities cannot be compared: explanation 0 is a list and has no hash: … "
        "Set a hashable `identity`.",
    ),
    "SaysAnotherKind": (
        "explanations_are_of_a_declared_kind",
        "says-another-kind on array: the explanations are of kind 'value', and the component declares "
        "('vector',). Make the two agree.",
    ),
    "NamesNoDiscretizer": (
        "the_named_discretizer_takes_them",
        "names-no-discretizer on array: it cannot be measured: the explanations name a discretizer that is not available: no "
        "discretizer 'sgin' is installed. Did you mean 'sign'? … Without one, explanations count as they "
        "are.",
    ),
    "NamesAnothersDiscretizer": (
        "the_named_discretizer_takes_them",
        "names-anothers-discretizer on array: it cannot be measured: the discretizer delta takes explanations of "
        "kind example, and these are of kind 'vector': choose another one, or 'original'. Without one, explanations "
        "count as they are.",
    ),
    "ReversesInstances": (
        "instances_are_the_explained_rows",
        "reverses-instances on array: the explanations' instances are not the rows that were explained. "
        "Pass instances=X, as it was given, or leave it out.",
    ),
    "ChangesRows": (
        "its_input_is_left_alone",
        "changes-rows on array: explain changed X in place. Work on a copy.",
    ),
    "ChangesSeeds": (
        "its_input_is_left_alone",
        "changes-seeds on array: explain changed seeds in place. Work on a copy.",
    ),
    "ChangesTheBackground": (
        "its_input_is_left_alone",
        "changes-the-background on array: fit changed the background in place. Work on a copy.",
    ),
    "SeedsNumpy": (
        "global_state_is_untouched",
        "seeds-numpy on array: fit or explain used or changed numpy.random of the whole process. Use "
        "numpy.random.default_rng(seeds[i]) for row i.",
    ),
    "DrawsFromRandom": (
        "global_state_is_untouched",
        "draws-from-random on array: fit or explain used or changed random of the whole process. Use "
        "random.Random(int(seeds[i])) for row i.",
    ),
    "UsesItsOwnNoise": (
        "same_seeds_give_the_same_answer",
        "uses-its-own-noise on array: the same rows and seeds were explained twice, and row 0 has the "
        "identity … Take randomness from seeds alone, and keep nothing between calls.",
    ),
    "FailsWhenAskedAgain": (
        "same_seeds_give_the_same_answer",
        "fails-when-asked-again: RuntimeError: the session is closed was raised. Expected that explaining"
        " the same rows with the same seeds twice gives equal explanations.",
    ),
    "LearnsAtRandom": (
        "fitting_again_gives_the_same_answer",
        "learns-at-random on array: a second one was fitted on the same background, and row 0 has the "
        "identity … Use a fixed seed in fit, or one made from the background by faithkit.plugin.row_seeds.",
    ),
    "UsesThePosition": (
        "equal_rows_get_equal_explanations",
        "uses-the-position on array: rows 1 and 5 are equal, and their explanations are not. Take "
        "randomness from seeds[i] for row i, and nothing from i.",
    ),
    "ScalesByTheBatch": (
        "chunking_is_irrelevant",
        "scales-by-the-batch on array: the rows were explained one by one, and row 0 has the identity … "
        "Use nothing of the batch but the row itself; what must be learnt is learnt in fit.",
    ),
    "HoldsALock": (
        "pickles",
        "holds-a-lock on array: once fitted, it cannot be pickled: TypeError: cannot pickle "
        "'_thread.lock' object. Hold arrays and plain objects; make locks, handles and generators when "
        "they are needed.",
    ),
    "DependsOnTheProcess": (
        "survives_a_worker_process",
        "depends-on-the-process on array: the rows were explained in a worker process, and row 0 has the "
        "identity … Keep all that explain reads in the instance, not in globals of its module.",
    ),
    "SharesASet": (
        "explanations_are_storable",
        "shares-a-set on array: `shared` holds a set, which no store can keep. "
        "Hold arrays, frames, rules and JSON values: convert others with tolist(), "
        "sorted() or str().",
    ),
    "TakesAnyBackground": (
        "background_of_another_width_is_refused",
        "takes-any-background on array: the background has one column instead of four, and nothing was "
        "raised; expected a FaithkitError. Use faithkit.plugin.Encoder(background), which checks both, or "
        "compare the shapes.",
    ),
    "TripsOverTheBackground": (
        "background_of_another_width_is_refused",
        "trips-over-the-background on array: the background has one column instead of four, and "
        "ValueError: matmul: … Use faithkit.plugin.Encoder(background), which checks both, or compare the "
        "shapes.",
    ),
    "TakesAnyRows": (
        "rows_of_another_width_are_refused",
        "takes-any-rows on array: X has one column instead of four, and nothing was raised; expected a "
        "FaithkitError. Use faithkit.plugin.Encoder(background), which checks both, or compare the shapes.",
    ),
    "LearnsTheFirstRow": (
        "order_of_the_background_is_irrelevant",
        "learns-the-first-row on array: the background was given in the opposite order, and row 0 has the"
        " identity … Use all rows of the background, or choose some by their content: faithkit.plugin.row_seeds "
        "gives every row a number that depends on nothing else.",
    ),
    "DeniesWhatItLearned": (
        "learns_nothing_if_it_says_so",
        "denies-what-it-learned on array: only half of the background was given, and row 0 has the "
        "identity … Remove `learns = False`, or use no values of the background.",
    ),
    "TripsOverNothing": (
        "no_rows_get_no_explanations",
        "trips-over-nothing on array: an empty batch is not explained: ValueError: zero-size array to "
        "reduction operation maximum which has no identity. Return Explanations of no rows: "
        "arrays of shape (0, columns), or an empty list.",
    ),
    "ReadsTheIndex": (
        "labels_of_rows_are_irrelevant",
        "reads-the-index on frame: the rows had other labels, and row 0 has the identity … Read the "
        "columns, and never X.index: X.reset_index(drop=True) gives rows their places.",
    ),
    "BatchesDifferently": (
        "a_full_chunk_changes_nothing",
        "batches-differently on array: the same rows were explained again and again, 32 at once, and row "
        "0 has the identity … Use nothing of the batch but the row itself, however many there are.",
    ),
    "BreaksTheModel": (
        "the_model_is_left_alone",
        "breaks-the-model on array: fit or explain broke the model, which now fails: the model scores the "
        "class 'no' lower … Work on a copy of predictor.model, such as copy.deepcopy makes.",
    ),
    "PrintsProgress": (
        "global_state_is_untouched",
        "prints-progress on array: fit or explain used or changed stdout of the whole process. Say it on "
        "stderr, or call faithkit.plugin.report_progress and leave the words to faithkit.",
    ),
    "SilencesWarnings": (
        "global_state_is_untouched",
        "silences-warnings on array: fit or explain used or changed warnings.filters of the whole "
        "process. Put it into `with warnings.catch_warnings():`.",
    ),
    "SilencesNumpy": (
        "global_state_is_untouched",
        "silences-numpy on array: fit or explain used or changed numpy.seterr of the whole process. Put "
        "it into `with numpy.errstate(…):`.",
    ),
    "NamesTooFew": (
        "every_column_has_a_name",
        "names-too-few on array: shared['names'] has 1 names for 4 columns; expected one for each. Name "
        "every column, in order, or leave names out.",
    ),
    "NamesNoRelation": (
        "the_named_relation_takes_them",
        "names-no-relation on array: the explanations name the relation near-explanatoin, which "
        "rejects them: no relation 'near-explanatoin' is installed. Did you mean "
        "'near-explanation'? … Name another one, or none.",
    ),
    "NamesAnothersRelation": (
        "the_named_relation_takes_them",
        "names-anothers-relation on array: the explanations name the relation in-scope, which "
        "rejects them: it takes explanations of kind rule, and these are 'vector'. Name another one, or none.",
    ),
    "NamesARelationThatNeedsMore": (
        "the_named_relation_takes_them",
        "names-a-relation-that-needs-more on array: the explanations name the relation nearest, "
        "which rejects them: nearest needs the prototypes that an example was chosen from, and how "
        "they were measured (shared['prototypes'] and shared['distance'], as nearest-neighbor gives"
        " them): use within, which asks for neither. Name another one, or none.",
    ),
    "ExplainsNoRowsAtATime": (
        "declared_chunks_are_possible",
        "explains-no-rows-at-a-time: rows_per_chunk is 0; expected a whole number of at least 1. Say how "
        "many rows to explain at a time, or nothing: 32 are usual.",
    ),
    "AssertsWithoutWords": (
        "explains_array",
        "asserts-without-words on array: AssertionError: assert len(X) < 3. Explain it, or raise a "
        "FaithkitError that says what the explainer needs instead.",
    ),
    "EndsTheProgram": (
        "explains_array",
        "ends-the-program on array: SystemExit: 0. Explain it, or raise a FaithkitError that says what "
        "the explainer needs instead.",
    ),
    "TakesAnyParameter": (
        "unknown_parameter_is_refused",
        "takes-any-parameter: it was given the parameter no_such_parameter, and nothing was raised; "
        "expected a FaithkitError. Name the parameters in the factory's signature instead of taking "
        "**options.",
    ),
    "LacksExplain": (
        "can_be_created",
        "lacks-explain: the factory gave a LacksExplain, which lacks explain. The methods of every "
        "explainer are fit and explain.",
    ),
    "HasABadDefault": (
        "can_be_created",
        "has-a-bad-default: it cannot be made without parameters: the explainer 'has-a-bad-default' of "
        "your plugin refuses its parameters: ValueError: k must be positive. Its parameters: faithkit "
        "show explainer your plugin/has-a-bad-default. Give every parameter a default that works, or "
        "register it with presets.",
    ),
    "KeepsAParameterToItself": (
        "parameters_are_documented",
        "keeps-a-parameter-to-itself: the docstring of faulty.explainers:KeepsAParameterToItself "
        "does not describe high. Add a line such as 'high : float' to its section Parameters.",
    ),
    "SaysNothing": (
        "parameters_are_documented",
        "says-nothing: faulty.explainers:SaysNothing has no docstring. Write one: `faithkit show` prints it.",
    ),
    "IsNotThere": (
        "factory_can_be_imported",
        "is-not-there: it cannot be imported: the factory 'faulty.explainers:IsNotThere' of 'is-not-there' cannot be "
        "loaded: it failed with AttributeError: module 'faulty.explainers' has no attribute "
        "'IsNotThere'. Correct factory= of its Component.",
    ),
}

RELATIONS = {
    "RefusesEverything": (
        "relates_something",
        "refuses-everything: it relates nothing. vectors: today is Sunday.; wide vectors: today is "
        "Sunday. Read one of them, or correct the `kinds` of its Component.",
    ),
    "FitReturnsNone": (
        "fit_returns_the_relation",
        "fit-returns-none on vectors: fit returned a NoneType; expected the relation. End fit with "
        "`return self`.",
    ),
    "GivesNumbers": (
        "holds_is_a_boolean_matrix",
        "gives-numbers on vectors: the matrix cannot be counted: holds returned int64 (69, 70); expected bool (69, 70). Return one row "
        "per explanation and one column per instance.",
    ),
    "GivesItTheOtherWayRound": (
        "holds_is_a_boolean_matrix",
        "gives-it-the-other-way-round on vectors: the matrix cannot be counted: holds returned bool (70, 69); expected bool (69, 70). "
        "Return one row per explanation and one column per instance.",
    ),
    "PadsWithOnes": (
        "holds_is_a_boolean_matrix",
        "pads-with-ones on vectors: the bits cannot be counted: packed has ones behind bit 70; expected "
        "zeros. faithkit.plugin.pack_bits makes them of a Boolean matrix.",
    ),
    "ForgetsAKey": (
        "one_key_per_explanation",
        "forgets-a-key on vectors: key has 69 rows for 70 explanations; expected one per row. Return "
        "values, or a part of them.",
    ),
    "HasKeysWithoutHash": (
        "one_key_per_explanation",
        "has-keys-without-hash on vectors: keys cannot be compared: explanation 0 is a list and has no "
        "hash: [0.75, -0.0, -0.25]. Give a 2-D array, or a list of hashable values such as str, tuple or "
        "frozenset. Return a 2-D array or hashable values.",
    ),
    "PacksTheFirstWordOnly": (
        "packed_equals_holds",
        "packs-the-first-word-only on vectors: with 65 instances packed and holds differ on explanation 0"
        " and instance 64. Make packed the same matrix as holds: faithkit.plugin.pack_bits packs one.",
    ),
    "LearnsTheFirstRow": (
        "learns_the_same_in_any_order",
        "learns-the-first-row on vectors: it was fitted again, on the background in the opposite order, and the "
        "answer changed for explanation … Learn from all rows of the background, without randomness.",
    ),
    "Alternates": (
        "asking_again_gives_the_same_answer",
        "alternates on vectors: it was evaluated twice, and the answer changed for explanation 0 "
        "and instance 0. Use no randomness, and keep nothing between calls.",
    ),
    "ComparesWithTheBlock": (
        "chunks_of_explanations_are_irrelevant",
        "compares-with-the-block on vectors: it was evaluated in three parts, and the answer "
        "changed for explanation 0 and instance 1. Answer for every explanation by itself; what a "
        "sample remembers must not depend on them.",
    ),
    "ComparesWithTheSample": (
        "pieces_of_instances_are_irrelevant",
        "compares-with-the-sample on vectors: it was evaluated on pieces of the sample, and the "
        "answer changed for explanation 0 and instance 1. Learn scales and neighbours in "
        "fit(background), not from the sample.",
    ),
    "ComparesWithTheMedian": (
        "pieces_of_instances_are_irrelevant",
        "compares-with-the-median on vectors: it was evaluated on pieces of the sample, and the "
        "answer changed for explanation 0 and instance 1. Learn scales and neighbours in "
        "fit(background), not from the sample.",
    ),
    "ComparesWithTheSpread": (
        "pieces_of_instances_are_irrelevant",
        "compares-with-the-spread on vectors: it was evaluated on pieces of the sample, and the "
        "answer changed for explanation 0 and instance 0. Learn scales and neighbours in "
        "fit(background), not from the sample.",
    ),
    "GroupsWithoutBeingEquality": (
        "groups_are_equality",
        "groups-without-being-equality on vectors: it sets `groups`, but answers differently for "
        "explanation 0 and instance 1, of unequal keys. Leave `groups` out, or make `holds` "
        "equality of keys.",
    ),
    "GroupsWhatItTellsApart": (
        "groups_are_equality",
        "groups-what-it-tells-apart on vectors: it sets `groups`, but answers differently for "
        "explanation 0 and instance 3, of equal keys.",
    ),
    "ChangesTheBackground": (
        "fit_returns_the_relation",
        "changes-the-background on vectors: fit changed the background in place. Work on a copy.",
    ),
    "NeedsABackground": (
        "no_background_is_accepted",
        "needs-a-background: fit was given None for a background, and AttributeError: 'NoneType' "
        "object has no attribute 'mean' was raised. Return self if the background is None, or raise"
        " a FaithkitError that says what is needed.",
    ),
    "HidesWhatItReads": (
        "equal_keys_give_equal_rows",
        "hides-what-it-reads on vectors: explanations 6 and 14 have equal keys and unequal answers. "
        "Return from key all that holds reads of an explanation.",
    ),
    "ReadsExplanationsOfOthers": (
        "instance_only_reads_no_explanations",
        "reads-explanations-of-others on vectors: it was evaluated on instances without "
        "explanations, and the answer changed for explanation 0 and instance 0. Read sample.X "
        "alone, or leave `instance_only` out.",
    ),
    "NeedsExplanationsOfOthers": (
        "instance_only_reads_no_explanations",
        "needs-explanations-of-others on vectors: it fails where the instances have no explanations: … "
        "Read sample.X alone, or leave `instance_only` out.",
    ),
    "ChangesInstances": (
        "sample_is_left_alone",
        "changes-instances on vectors: evaluating it changed X in place. Work on a copy.",
    ),
    "ChangesExplanations": (
        "sample_is_left_alone",
        "changes-explanations on vectors: evaluating it changed the explanations' values in place. "
        "Work on a copy.",
    ),
    "NegatesToItself": (
        "composes",
        "negates-to-itself on vectors: ~r differs from the Boolean logic of r. Leave &, | and ~ to "
        "faithkit.plugin.Relation.",
    ),
    "TripsOverMissing": (
        "missing_explanations_are_accepted",
        "trips-over-missing: ValueError: Input contains NaN was raised. Expected that the relation"
        " accepts missing explanations, and that they do not affect the others. The traceback "
        "shows where to fix it.",
    ),
    "TakesMissingForZero": (
        "missing_explanations_are_accepted",
        "takes-missing-for-zero on vectors: an explanation holds for a row without an explanation, although "
        "the two are compared. Set the columns of sample.explanations.missing to False.",
    ),
    "DrawsTooFew": (
        "control_has_the_same_form",
        "draws-too-few on vectors: its control has another form: control returned "
        "<Explanations of 35 rows, kind vector, … missing>; expected 70 explanations of kind 'vector', "
        "missing where the originals are. Return "
        "attrs.evolve(explanations, values=…).",
    ),
    "DrawsFromTheClock": (
        "control_depends_on_seeds_alone",
        "draws-from-the-clock on vectors: equal seeds drew another control. Draw with "
        "faithkit.plugin.row_uniforms(seeds, …) and no other randomness.",
    ),
    "DrawsByPlace": (
        "control_depends_on_seeds_alone",
        "draws-by-place on vectors: the rows came in another order, and its control changed. Draw other "
        "rows from an order by content: faithkit.plugin.hash_content.",
    ),
    "ObjectsInWords": (
        "objections_name_a_verdict",
        "objects-in-words on vectors: objections returned ['they are too long']; expected a list of "
        "Objection. Return [] if nothing speaks against the explanations.",
    ),
    "PraisesByAnObjection": (
        "objections_name_a_verdict",
        "praises-by-an-objection on vectors: the objection 'beauty' leads to 'faithful'. Choose one of … or "
        "None.",
    ),
    "ObjectsByChance": (
        "objections_depend_on_content_alone",
        "objects-by-chance on vectors: asked twice, it had other objections. Draw with "
        "faithkit.plugin.row_uniforms(context.seeds, …) and no other randomness.",
    ),
    "ObjectsToTheFirstRow": (
        "objections_depend_on_content_alone",
        "objects-to-the-first-row on vectors: the rows came in another order, and its objections changed. "
        "Choose rows by context.seeds, and others by faithkit.plugin.hash_content.",
    ),
    "IsNoRelation": (
        "can_be_created",
        "is-no-relation: IsNoRelation does not derive from faithkit.plugin.Relation. Derive it: that gives it &,"
        " | and ~.",
    ),
}

DISCRETIZERS = {
    "NumbersByFirstSight": (
        "another_instance_gives_the_same_identities",
        "numbers-by-first-sight on vectors: the explanations were discretized by another one, in parts and "
        "backwards, and row 1 has the identity [9] instead of [1]. Make the identity of the explanation's "
        "content: its signs, its bins, a tuple, a text.",
    ),
    "LearnsWhenFirstCalled": (
        "another_instance_gives_the_same_identities",
        "learns-when-first-called on vectors: the explanations were discretized by another one, in parts and "
        "backwards, and row 0 has the identity [[False False False]] instead of [[ True True True]]. Make the "
        "identity of the explanation's content: its signs, its bins, a tuple, a text.",
    ),
    "WritesTheSignOfZero": (
        "equal_explanations_get_equal_identities",
        "writes-the-sign-of-zero on vectors: 0.0 was replaced by −0.0, which is equal, and row 0 has the "
        "identity ['0.8 -0.0 -0.2'] instead of ['0.8 0.0 -0.2']. Add 0.0 to numbers before you write them as "
        "text.",
    ),
    "LearnsTheFirstRow": (
        "order_of_learning_is_irrelevant",
        "learns-the-first-row on vectors: the explanations were discretized by one that was fitted on "
        "them in the opposite order, and row 0 has the identity … Learn from all explanations: quantiles,"
        " means or the like.",
    ),
    "TellTrips": (
        "identities_are_described",
        "tell-trips on vectors: describe, called with [ 1. 0. -1.] and no names, fails: TypeError: "
        "'NoneType' object is not subscriptable. Return a text for every identity that "
        "discretize gives; names may be None.",
    ),
    "TellsANumber": (
        "identities_are_described",
        "tells-a-number on vectors: describe, called with [ 1. 0. -1.] and no names, returned a "
        "int. Return a text for every identity that discretize gives; names may be None.",
    ),
    "AssertsWithoutWords": (
        "discretizes_something",
        "asserts-without-words: AssertionError: assert explanations.values.min() > 0 was raised. Expected"
        " that explanations of at least one declared kind are discretized. The traceback shows where to "
        "fix it.",
    ),
    "TriesWhatItHasNot": (
        "values_to_try_are_taken",
        "tries-what-it-has-not: `tries` is not accepted: the discretizer 'tries-what-it-has-not' of"
        " your plugin has no parameter 'digits'. It takes none. Map the names of parameters to "
        "values that the constructor takes.",
    ),
    "TriesWhatItRefuses": (
        "values_to_try_are_taken",
        "tries-what-it-refuses: `tries` is not accepted: k is 0.",
    ),
    "TriesAList": (
        "values_to_try_are_taken",
        "tries-a-list: `tries` is not accepted: AttributeError: 'list' object has no attribute 'items'. Map "
        "the names of parameters to values that the constructor takes.",
    ),
    "RefusesEverything": (
        "discretizes_something",
        "refuses-everything: it discretizes nothing. vectors: today is Sunday.; wide vectors: today is "
        "Sunday. Take one of them, or correct the `kinds` of its Component.",
    ),
    "DropsMissing": (
        "one_identity_per_row",
        "drops-missing on vectors: discretize returned 60 identities for 70 explanations; expected "
        "one per row. Keep the rows whose explanation is missing.",
    ),
    "HasNoHash": (
        "one_identity_per_row",
        "has-no-hash on vectors: identities cannot be compared: explanation 0 is a list and has no hash: "
        "[1.0, 0.0, -1.0]. Give a 2-D array, or a list of hashable values such as str, tuple or "
        "frozenset. Return a 2-D array or a list of hashable values.",
    ),
    "ChangesValues": (
        "explanations_are_left_alone",
        "changes-values on vectors: discretize changed values in place. Work on a copy.",
    ),
    "AddsNoise": (
        "discretizing_again_gives_the_same_identities",
        "adds-noise on vectors: the explanations were discretized twice, and row 0 has the identity … Use"
        " no randomness, and keep nothing between calls.",
    ),
    "UsesThePosition": (
        "equal_explanations_get_equal_identities",
        "uses-the-position on vectors: explanations 0 and 60 are equal, and their identities are not. Let"
        " the identity depend on nothing else, such as i.",
    ),
    "ScalesByTheBatch": (
        "chunks_of_discretizing_are_irrelevant",
        "scales-by-the-batch on vectors: the explanations were discretized in three parts, and row 0 has "
        "the identity … Learn quantiles, scales and the like in fit(explanations), not in discretize.",
    ),
    "TripsOverNothing": (
        "accepts_an_empty_batch",
        "trips-over-nothing: ValueError: zero-size array to reduction operation maximum which has no "
        "identity was raised. Expected that an empty batch gets no identities, instead of an exception.",
    ),
}

ESTIMATORS = {
    "ComparesWithTheMean": (
        "parts_of_the_tally_suffice",
        "compares-with-the-mean on a tally with three labels: one more explanation in the tally gave the others other "
        "scores. Score u from counts[u] and owners[:, u] alone, or say whole = True.",
    ),
    "WeighsByTheTotal": (
        "parts_of_the_tally_suffice",
        "weighs-by-the-total on a tally with three labels: one more explanation in the tally gave the others other "
        "weights. Score u from counts[u] and owners[:, u] alone, or say whole = True.",
    ),
    "SaysWhole": (
        "parts_of_the_tally_suffice",
        "says-whole on a tally with three labels: whole is 'yes'; expected True or False. Say False if every part of a "
        "tally can be scored alone.",
    ),
    "ScoresNothing": (
        "some_owners_are_scored",
        "scores-nothing: every score is NaN, on every tally. Give NaN only where nothing can be checked.",
    ),
    "ScoresExplanations": (
        "scores_are_shares",
        "scores-explanations on a tally with three labels: scores have the shape "
        "(8, 3); expected (2, 8, 3): (2, explanations, labels). Return one score for each entry of "
        "tally.owners, and NaN to leave an owner out.",
    ),
    "CountsInPercent": (
        "scores_are_shares",
        "counts-in-percent on a tally with three labels: scores are from 50 to "
        "50; expected 0 to 1. Return one score for each entry "
        "of tally.owners, and NaN to leave an owner out.",
    ),
    "OverflowsWhenLarge": (
        "scores_are_shares",
        "overflows-when-large on a tally with many instances: scores are from - … "
        "Return one score for each entry of tally.owners, and NaN to leave an owner out.",
    ),
    "BoostsTheRare": (
        "scores_are_shares",
        "boosts-the-rare on a tally with a rare label: scores are from 0.5 to 2;"
        " expected 0 to 1. Return one score for each entry of "
        "tally.owners, and NaN to leave an owner out.",
    ),
    "PrefersTheFirstLabel": (
        "order_of_the_tally_is_irrelevant",
        "prefers-the-first-label on a tally with three labels: labels in the opposite order got other "
        "scores. Treat all labels alike, whatever their numbers.",
    ),
    "BorrowsAnInterval": (
        "interval_is_of_the_same_quantity",
        "borrows-an-interval on a tally with many instances: it sets `interval`, but gives 0.5 "
        "where leave-one-out gives 0.584736. Leave `interval` out: it estimates another quantity.",
    ),
    "ExpectsFive": (
        "by_chance_is_a_share",
        "expects-five: by_chance(0.0, 0.0) gave 5.0; expected a number from 0 to 1, or None. Give the "
        "mean of the estimate over all shuffles of the labels, such as verified * chance.",
    ),
    "WeighsBelowZero": (
        "weights_can_be_used",
        "weighs-below-zero on a tally with three labels: it weighs "
        "owners by -1 to 0; expected finite weights of at least 0. Return weights of the shape of tally.owners, "
        "or of one that broadcasts to it.",
    ),
    "WeighsExplanations": (
        "weights_can_be_used",
        "weighs-explanations on a tally with three labels: its weights cannot be used: "
        "ValueError: … Return weights of the shape of tally.owners, or of one that broadcasts to it.",
    ),
    "WeighsTheFirstLabelMost": (
        "order_of_the_tally_is_irrelevant",
        "weighs-the-first-label-most on a tally with three labels: labels in the opposite order got other "
        "weights. Treat all labels alike, whatever their numbers.",
    ),
    "WeighsAtRandom": (
        "scoring_again_gives_the_same_scores",
        "weighs-at-random on a tally with three labels: two calls with one tally gave different weights. Use no "
        "randomness, and keep nothing between calls.",
    ),
    "WeighsInPlace": (
        "tally_is_left_alone",
        "weighs-in-place on a tally with three labels: weigh changed tally.owners in place. Work on a copy.",
    ),
    "ChangesTheTally": (
        "tally_is_left_alone",
        "changes-the-tally on a tally with three labels: scores changed tally.counts in place. Work on a "
        "copy.",
    ),
    "AddsNoise": (
        "scoring_again_gives_the_same_scores",
        "adds-noise on a tally with three labels: two calls with one tally gave different scores. Use no "
        "randomness, and keep nothing between calls.",
    ),
    "UsesThePosition": (
        "order_of_the_tally_is_irrelevant",
        "uses-the-position on a tally with three labels: explanations in the opposite order got other "
        "scores. Score u from counts[u] and owners[:, u] alone: a large tally has no totals.",
    ),
}

DATASETS = {
    "HasNoPlace": (
        "place_is_known",
        "has-no-place: place() gave '/home/me'. Expected 'embedded', 'here' or 'to be downloaded'.",
    ),
    "ForgetsALabel": (
        "features_and_labels_are_loaded",
        "forgets-a-label: it has 3 rows and 2 labels; expected one for each row. Give every row its label.",
    ),
    "IsEmpty": (
        "features_and_labels_are_loaded",
        "is-empty: it has no rows. Give it some.",
    ),
    "NumbersItsColumns": (
        "features_and_labels_are_loaded",
        "numbers-its-columns: its columns have other names than texts, or share one. Call every column by"
        " a text of its own.",
    ),
    "Shuffles": (
        "loading_again_gives_the_same_rows",
        "shuffles: it gave other rows or labels the second time. Fix its seed.",
    ),
}

EXECUTORS = {
    "LosesAChunk": (
        "results_are_those_of_this_process",
        "loses-a-chunk: it does not explain the kit's rows: the executor LosesAChunk answered 4 of 5 chunks; expected "
        "all. Yield each chunk once with its result, in any order.",
    ),
    "LosesTheConnection": (
        "results_are_those_of_this_process",
        "loses-the-connection: it does not explain the kit's rows: ConnectionError: nobody listens. Yield each chunk "
        "once with its result, in any order.",
    ),
    "AnswersWithoutChunks": (
        "results_are_those_of_this_process",
        "answers-without-chunks: it does not explain the kit's rows: the executor AnswersWithoutChunks yielded "
        "ChunkResult; expected (chunk, result) of each chunk once",
    ),
    "MixesChunks": (
        "results_are_those_of_this_process",
        "mixes-chunks: row 0 has the identity [[1.]] instead of [[-1.]] (they differ by 2). Yield each chunk with "
        "faithkit.plugin.explain_chunk(job, chunk).",
    ),
    "ChangesReasons": (
        "results_are_those_of_this_process",
        "changes-reasons: row 11 has the reason 'it failed' instead of \"ValueError: the kit's failing row\". Pass "
        "results on as faithkit.plugin.explain_chunk returns them.",
    ),
    "HidesErrors": (
        "a_failing_row_ends_a_run_that_raises",
        "hides-errors: the error of row 11 was not raised. Let exceptions of faithkit.plugin.explain_chunk pass.",
    ),
}

DIAGNOSTICS = {
    "Crashes": (
        "answers_something",
        "crashes on a_log_of_labels: KeyError: 'rows'. Answer, or raise a FaithkitError that says what the "
        "diagnostic needs.",
    ),
    "RefusesEverything": (
        "answers_something",
        "refuses-everything: it answers nothing about any result. a_log_of_labels: more rows are needed. "
        "a_log_of_numbers: more rows are needed. a_model: more rows are needed. Answer about at least one of "
        "them.",
    ),
    "ReturnsANumber": (
        "report_has_values_and_a_sheet",
        "returns-a-number on a_log_of_labels: the report has no to_dict. Return a faithkit.plugin.Report with "
        "to_dict and sheet.",
    ),
    "ReturnsNoJson": (
        "report_has_values_and_a_sheet",
        "returns-no-json on a_log_of_labels: to_dict is no JSON: ValueError: Out of range float values are not JSON "
        "compliant … Use numbers, texts and None.",
    ),
    "ShowsANumber": (
        "report_has_values_and_a_sheet",
        "shows-a-number on a_log_of_labels: the sheet cannot be shown: AttributeError: … Give Sheet.of texts, "
        "tables and sheets.",
    ),
    "ClipsExplanations": (
        "rows_are_left_alone",
        "clips-explanations on a_log_of_labels: diagnose changed the explanations' values in place. Work on a "
        "copy.",
    ),
    "SortsCodes": (
        "rows_are_left_alone",
        "sorts-codes on a_log_of_labels: diagnose changed codes or X in place. Work on a copy.",
    ),
    "CountsItsCalls": (
        "asking_again_gives_the_same",
        "counts-its-calls on a_log_of_labels: two answers about one result differ. Draw random numbers from "
        "the result's seed only.",
    ),
    "LooksAtTheFirstRow": (
        "order_of_rows_is_irrelevant",
        "looks-at-the-first-row on a_log_of_labels: rows in the opposite order got another answer. Let seeds "
        "belong to rows: faithkit.plugin.row_seeds.",
    ),
    "AppliesPerhaps": (
        "says_whether_it_applies",
        "applies-perhaps: applies gave 'perhaps' for a_log_of_labels. Return True or False.",
    ),
}

REPORTERS = {
    "NeedsOneText": (
        "needs_are_texts",
        """needs-one-text: needs is 'labels'. Write for example needs = ("contradictions:k=5", "labels").""",
    ),
    "RefusesEverything": (
        "writes_something",
        "refuses-everything: it writes no report. a_log_of_labels: today is Sunday. … Write at least one of them.",
    ),
    "KnowsEvaluationsOnly": (
        "writes_something",
        "knows-evaluations-only on an_estimate: AttributeError: … Write it, or raise a FaithkitError that says what "
        "the format needs.",
    ),
    "WritesTheFileItself": (
        "content_is_text_or_bytes",
        "writes-the-file-itself on a_log_of_labels: write returned a NoneType; expected str or bytes. Return a str or "
        "bytes; the kernel opens and closes files.",
    ),
    "WritesNothing": (
        "content_is_text_or_bytes",
        "writes-nothing on a_log_of_labels: write returned nothing. Return a str or bytes; the kernel opens and closes "
        "files.",
    ),
    "WritesHalfACharacter": (
        "content_is_text_or_bytes",
        "writes-half-a-character on a_log_of_labels: the text cannot be encoded: UnicodeEncodeError: … Replace what "
        "is no character.",
    ),
    "NumbersItsFiles": (
        "equal_reports_are_written_alike",
        "numbers-its-files on a_log_of_labels: one report was written in two ways. Leave out times, random ids, and "
        "the order of sets.",
    ),
    "TakesTheTextsOut": (
        "the_report_is_left_alone",
        "takes-the-texts-out on a_report_of_a_plugin: write changed the report. Work on a copy.",
    ),
}

ADAPTERS = {
    "TakesAnother": (
        "takes_objects_of_the_types_that_it_names",
        "takes-another: its example is a faithkit.inputs.objects.adapters.RowContext, which does "
        'not match its types faulty.Note. Name the classes, as in types=("shap.Explanation",).',
    ),
    "ShowsNoRows": (
        "takes_objects_of_the_types_that_it_names",
        "shows-no-rows: example() did not give a pair of an object and RowContext. Return an object of a few "
        "rows, and faithkit.plugin.RowContext(n=…) with what is known of them.",
    ),
    "TakesNothing": (
        "makes_what_its_methods_say",
        "takes-nothing: it has no method that takes anything. Give it one of explanations, rows, "
        "predictions and model.",
    ),
    "GivesAList": (
        "makes_what_its_methods_say",
        "gives-a-list: explanations gave a list; expected faithkit.Explanations. Make "
        "Explanations.vectors(…) or .of(…).",
    ),
    "ForgetsARow": (
        "makes_what_its_methods_say",
        "forgets-a-row: explanations gave 1 rows of an example of 2. Mark rows without an explanation as "
        "missing.",
    ),
    "UsesItUp": (
        "taking_it_again_gives_the_same",
        "uses-it-up: its values differ the second time. Read the object, and change nothing in it.",
    ),
}

LOADERS = {
    "ShowsAnother": (
        "takes_files_of_the_types_that_it_names",
        "shows-another: its example is model.json, which does not match its types .limit. Name "
        'suffixes, as in types=(".acme",), or a file by which its folders are known.',
    ),
    "ShowsNoRows": (
        "takes_files_of_the_types_that_it_names",
        "shows-no-rows: example() did not give a path and rows. Write a small model into the folder, and "
        "return its path and rows that it takes.",
    ),
    "DoesNotSay": (
        "says_whether_code_runs",
        "does-not-say: its runs_code is None. Write runs_code = True in the class, unless no file could "
        "ever make it run code of its own.",
    ),
    "GivesTheFile": (
        "loads_a_model_that_predicts",
        "gives-the-file: the model is of type dict; expected an object with a predict method, or a "
        "callable that takes X and returns labels was raised. Expected that the example loads as a model "
        "with one prediction per row, the same when loaded again. The traceback shows where to fix it.",
    ),
    "Wavers": (
        "loads_a_model_that_predicts",
        "wavers: loaded again, the model predicts something else. Fix its seed.",
    ),
    "TakesAHalf": (
        "a_damaged_file_is_refused",
        "takes-a-half: half of a file was loaded as if it were whole. Raise faithkit.errors.InputError where "
        "anything is missing, or keep a checksum in the file.",
    ),
}

COMMANDS = {
    "is_a_function": (
        "factory_can_be_imported",
        "is-a-function: faulty.commands:is_a_function is a function; expected a click.Command. "
        "Decorate the function with @click.command().",
    ),
}

MODULES = {
    "raises": "import a_library_that_nobody_has",
    "exits": "raise SystemExit(3)",
    "has_no_version": "",
    "forgets_the_mark": "FAITHKIT_API = 1\ndef faithkit_explainers(): return []",
    "yields_names": "import faithkit\nFAITHKIT_API = 1\n@faithkit.plugin.hookimpl\ndef faithkit_explainers(): yield 'shap'",
    "offers_nothing": "FAITHKIT_API = 1",
    "imports_numpy": "import faithkit, numpy\nFAITHKIT_API = 1\n@faithkit.plugin.hookimpl\ndef faithkit_estimators():\n    yield faithkit.plugin.Component(name='mine', factory='m:f', summary='Mine.')",
}

PLUGINS = {
    "raises": (
        "module_can_be_imported",
        "raises: the module cannot be imported: ModuleNotFoundError: No module named 'a_library_that_nobody_has'. Import optional libraries where they are used",
    ),
    "exits": ("module_can_be_imported", "exits: the module cannot be imported: SystemExit: 3."),
    "has_no_version": (
        "declares_the_api_version",
        "has_no_version: FAITHKIT_API is None; expected 1. Add the line FAITHKIT_API = 1.",
    ),
    "forgets_the_mark": (
        "hooks_yield_components",
        "forgets_the_mark: faithkit_explainers() lacks @hookimpl and is never called. Decorate it with",
    ),
    "yields_names": (
        "hooks_yield_components",
        "yields_names: faithkit_explainers() gave str, expected Component. Yield faithkit.plugin.Component(",
    ),
    "offers_nothing": (
        "hooks_yield_components",
        "offers_nothing: the module registers no component. Write a function such as faithkit_explainers",
    ),
    "imports_numpy": (
        "listing_imports_nothing_heavy",
        "imports_numpy: listing its components imports numpy. Import them in the factory's module",
    ),
}

SUMMARIES = {
    "It has\ntwo lines.": (
        "summary_is_one_line",
        "sound: its summary has 17 characters on 2 lines; expected one line of at most 100.",
    ),
}

REMARKS = {
    "TakesItsTime": (
        "rows_are_explained_quickly",
        "takes-its-time on array: a row takes 0.5 s, and a sample of 10,000 rows 83 minutes on one core. Say so in its "
        "docstring.",
    ),
}
"""What is no failure, and is said all the same."""

REPORTER_TYPES = {
    (): (
        "types_are_suffixes_or_media_types",
        """sound: it names no types. Write for example types=(".html", "text/html").""",
    ),
    ("html", ".HTML"): (
        "types_are_suffixes_or_media_types",
        """sound: 'html', '.HTML' is neither a suffix nor a media type. Write for example types=(".html", "text/html").""",
    ),
}

TABLES = (
    EXPLAINERS,
    RELATIONS,
    DISCRETIZERS,
    ESTIMATORS,
    DIAGNOSTICS,
    EXECUTORS,
    REPORTERS,
    REPORTER_TYPES,
    ADAPTERS,
    LOADERS,
    DATASETS,
    COMMANDS,
    PLUGINS,
    SUMMARIES,
    REMARKS,
)


def messages(check):
    """Return what is said of the faults that a check finds; "explains_*" are all checks of such a name."""
    faults = [fault for table in TABLES for fault in table.values()]
    return [message for name, message in faults if fnmatch.fnmatch(name, check)]

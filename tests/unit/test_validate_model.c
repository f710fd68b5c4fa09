/*
 * test_validate_model.c -- invalid models: VTS's mutations of every sample, and sections 7.1 and 7.2 rule by
 * rule.
 *
 * A device must refuse what nnb_model_validate refuses: INVALID_ARGUMENT from nnb_device_supported and from
 * nnb_prepare, and no prepared model (7.3).
 */
#include "conformance/validate/model_mutations.h"
#include "conformance/validate/model_rules.h"
#include "conformance/validate/sample_models.h"
#include "unit/device_helpers.h"
#include "unit/named_tests.h"

#define UNTOUCHED ((struct nnb_prepared *)(uintptr_t)0x5a5a)
enum { OPERATIONS_MAX = 16 };

static struct nnb_device *device;

/* ---- the three that judge a model ---- */

static enum nnb_status ask_device(const struct nnb_model *m, struct nnb_reason *reason)
{
	bool supported[OPERATIONS_MAX] = { false };

	assert_true(m->n_operations <= OPERATIONS_MAX || m->n_operations > NNB_OPERANDS_MAX);
	return nnb_device_supported(device, m, supported, reason);
}

/* *@p stays UNTOUCHED if the device is right. */
static enum nnb_status ask_prepare(const struct nnb_model *m, struct nnb_prepared **p, struct nnb_reason *reason)
{
	enum nnb_status status;

	*p = UNTOUCHED;
	status = nnb_prepare(device, m, &ordinary, NULL, p, reason);
	if (status == NNB_STATUS_NONE)
		nnb_prepared_unref(*p);
	return status;
}

/* NULL if all three refuse @m; else the name of one that does not. */
static const char *not_refused_by(const struct nnb_model *m)
{
	struct nnb_reason reasons[3] = { { "" }, { "" }, { "" } };
	struct nnb_prepared *p;

	if (nnb_model_validate(m, &reasons[0]) != NNB_STATUS_INVALID_ARGUMENT)
		return "validate";
	if (nnb_model_validate(m, NULL) != NNB_STATUS_INVALID_ARGUMENT)
		return "validate without a reason";
	if (ask_device(m, &reasons[1]) != NNB_STATUS_INVALID_ARGUMENT)
		return "supported";
	if (ask_prepare(m, &p, &reasons[2]) != NNB_STATUS_INVALID_ARGUMENT)
		return "prepare";
	for (size_t i = 0; i < N_OF(reasons); i++)
		if (!reasons[i].text[0])
			return "one of them, with a reason";
	return p == UNTOUCHED ? NULL : "prepare, leaving what it was to write to alone";
}

static void expect_valid(const struct nnb_model *m)
{
	struct nnb_reason reason = { "" };
	struct nnb_prepared *p;

	if (nnb_model_validate(m, &reason))
		fail_msg("refused: %s", reason.text);
	assert_string_equal(reason.text, "");
	if (ask_device(m, &reason))
		fail_msg("the device refuses it: %s", reason.text);
	if (ask_prepare(m, &p, &reason))
		fail_msg("it is not prepared: %s", reason.text);
}

/* ---- samples and their mutations ---- */

struct sample_row {
	size_t sample, kind;
};

static void sample_is_valid(void **state)
{
	const struct sample_row *row = *state;
	struct nnb_model *m = sample_new(row->sample);

	expect_valid(m);
	nnb_model_free(m);
}

static void expect_mutation_refused(const struct nnb_model *m, const char *what, void *arg)
{
	const char *who = not_refused_by(m);

	if (!who)
		return;
	print_error("%s: %s: not refused by %s\n", m->name, what, who);
	(*(unsigned *)arg)++;
}

static void mutations_are_refused(void **state)
{
	const struct sample_row *row = *state;
	struct nnb_model *m = sample_new(row->sample);
	unsigned missed = 0;
	size_t n = mutate_model_as(row->kind, m, expect_mutation_refused, &missed);

	nnb_model_free(m);
	if (missed)
		fail_msg("%u of %zu were not refused", missed, n);
}

/* ---- rules by hand ---- */

static void run_rule(void **state)
{
	const struct model_rule *rule = *state;
	struct nnb_model *m = model_rule_new(rule);
	const char *who;

	if (rule->valid) {
		expect_valid(m);
	} else {
		who = not_refused_by(m);
		if (who)
			fail_msg("not refused by %s", who);
	}
	nnb_model_free(m);
}

/* An operation of the vendor's is valid, whatever its operands; this device supports none. */
static void oem_operations_are_valid_and_not_supported(void **state)
{
	struct nnb_model *m = sample_named("ADD of float32, broadcast");
	bool supported[1] = { true };
	struct nnb_prepared *p;

	(void)state;
	m->operations[0].type = NNB_OEM_OPERATION;
	assert_int_equal(nnb_model_validate(m, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_device_supported(device, m, supported, NULL), NNB_STATUS_NONE);
	assert_false(supported[0]);
	assert_int_equal(ask_prepare(m, &p, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_ptr_equal(p, UNTOUCHED);
	nnb_model_free(m);
}

/* ---- scalars whose values VTS leaves to preparing ---- */

static void set_scalar(struct nnb_model *m, uint32_t k, uint8_t value)
{
	m->values[m->operands[m->operations[0].inputs[k]].location.offset] = value;
}

static void refused_with(const char *sample, uint32_t k, uint8_t value, const char *because)
{
	struct nnb_model *m = sample_named(sample);
	struct nnb_reason reason = { "" };
	const char *who;

	set_scalar(m, k, value);
	who = not_refused_by(m);
	if (who)
		fail_msg("%s: not refused by %s", sample, who);
	nnb_model_validate(m, &reason);
	if (!strstr(reason.text, because))
		fail_msg("%s: %s", sample, reason.text);
	nnb_model_free(m);
}

static void split_has_as_many_outputs_as_its_parameter(void **state)
{
	(void)state;
	refused_with("SPLIT", 2, 1, "it has 1 outputs, not 2");
	refused_with("SPLIT", 2, 3, "it has 3 outputs, not 2");
	refused_with("SPLIT", 2, 0, "it has 0 outputs, not 2");
}

static void directions_that_are_merged_give_one_output(void **state)
{
	(void)state;
	refused_with("BIDIRECTIONAL_SEQUENCE_LSTM", NNB_BOTH_MERGE, 1, "it has 1 outputs, not 2");
	refused_with("BIDIRECTIONAL_SEQUENCE_RNN", NNB_BOTH_RNN_MERGE, 1, "it has 1 outputs, not 2");
	refused_with("BIDIRECTIONAL_SEQUENCE_RNN, merged, with states", NNB_BOTH_RNN_MERGE, 0,
	             "it has 4 outputs, not 3");
}

/* Every operand of 16 bits of a box operation has one scale and one zero point. */
static void corners_are_in_eighths(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < sample_count(); i++) {
		struct nnb_model *m = sample_new(i);

		for (uint32_t o = 0; o < m->n_operands; o++) {
			float was = m->operands[o].scale;

			if (was != 0.125f || nnb_type_info(m->operands[o].type)->bytes != 2)
				continue;
			m->operands[o].scale = 0.25f;
			assert_ptr_equal(not_refused_by(m), NULL);
			m->operands[o].scale = was;
			n++;
			if (m->operands[o].type != NNB_TENSOR_QUANT16_ASYMM)
				continue;
			m->operands[o].zero_point = 1;
			assert_ptr_equal(not_refused_by(m), NULL);
			m->operands[o].zero_point = 0;
		}
		nnb_model_free(m);
	}
	assert_int_equal(n, 12);
}

/* ---- a rule of the tests: each mutation has a place somewhere, and each operation a sample ---- */

static void count(const struct nnb_model *m, const char *what, void *arg)
{
	(void)m;
	(void)what;
	(void)arg;
}

static void every_mutation_happens(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < mutation_count(); kind++) {
		size_t n = 0;

		for (size_t i = 0; i < sample_count(); i++) {
			struct nnb_model *m = sample_new(i);

			n += mutate_model_as(kind, m, count, NULL);
			nnb_model_free(m);
		}
		if (!n)
			fail_msg("%s never happens", mutation_name(kind));
	}
}

static void every_operation_has_a_sample(void **state)
{
	static const uint32_t operations[] = {
#define NNB_OP(name, code, hal) (code),
#include "nnb/operations.def"
#undef NNB_OP
	};
	bool seen[256] = { false };
	unsigned missing = 0;

	(void)state;
	for (size_t i = 0; i < sample_count(); i++) {
		struct nnb_model *m = sample_new(i);

		for (uint32_t k = 0; k < m->n_operations; k++)
			seen[m->operations[k].type] = true;
		nnb_model_free(m);
	}
	for (size_t i = 0; i < N_OF(operations); i++)
		if (!seen[operations[i]]) {
			print_error("%s has no sample\n", nnb_op_name(operations[i]));
			missing++;
		}
	assert_int_equal(missing, 0);
}

/* ---- all ---- */

/* Add a test for the sample, and one for each mutation that applies to it. */
static void add_sample(size_t i)
{
	static struct sample_row rows[N_OF(tests)];
	struct nnb_model *m = sample_new(i);

	rows[n_tests] = (struct sample_row){ .sample = i };
	add_test(sample_is_valid, &rows[n_tests], "%s: valid", sample_name(i));
	for (size_t kind = 0; kind < mutation_count(); kind++)
		if (mutate_model_as(kind, m, count, NULL)) {
			rows[n_tests] = (struct sample_row){ i, kind };
			add_test(mutations_are_refused, &rows[n_tests], "%s: %s: refused (7.3)", sample_name(i),
			         mutation_name(kind));
		}
	nnb_model_free(m);
}

static int open_null(void **state)
{
	(void)state;
	device = open_device("null");
	return 0;
}

static int close_null(void **state)
{
	(void)state;
	device = nnb_device_unref(device);
	return 0;
}

int main(void)
{
	size_t n_rules;
	const struct model_rule *rules = model_rules(&n_rules);

	for (size_t i = 0; i < sample_count(); i++)
		add_sample(i);
	for (size_t i = 0; i < n_rules; i++)
		add_test(run_rule, &rules[i], "%s: %s", rules[i].name, rules[i].valid ? "valid" : "refused");
	add_test(oem_operations_are_valid_and_not_supported, NULL, "O-16: an OEM operation: valid, and not supported");
	add_test(split_has_as_many_outputs_as_its_parameter, NULL, "O-16: SPLIT gives as many outputs as it says");
	add_test(directions_that_are_merged_give_one_output, NULL, "O-16: directions that are merged give one output");
	add_test(corners_are_in_eighths, NULL, "O-16: corners of boxes are in eighths of a pixel");
	add_test(every_mutation_happens, NULL, "every mutation happens");
	add_test(every_operation_has_a_sample, NULL, "every operation has a sample");
	return cmocka_run_group_tests_name("validate_model", tests, open_null, close_null);
}

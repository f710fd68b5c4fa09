/*
 * suite_model.c -- ValidateModel: getSupportedOperations and prepare must refuse every mutation of every sample model.
 *
 * A driver in this process is called through the library, which refuses invalid models before the driver sees them.
 * For the driver itself this suite checks that its answers about valid models agree with what it then does.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/model_mutations.h"
#include "conformance/validate/model_rules.h"
#include "conformance/validate/sample_models.h"
#include "conformance/validate/subject.h"

#define SUITE "model"

struct asker {
	const struct subject *subject;
	struct checks *checks;
};

static void expect_refused(const struct nnb_model *m, const char *what, void *arg)
{
	const struct asker *a = arg;
	/* a model that states more operations than its array has is refused before any operation is read */
	size_t n = m->n_operations < NNB_OPERANDS_MAX ? m->n_operations : NNB_OPERANDS_MAX;
	bool *each = calloc(n + 1, sizeof(*each));
	struct nnb_reason reason = { "" };
	struct prepared p;
	enum nnb_status status;

	abort_unless(each);
	status = subject_supported(a->subject, m, each, &reason);
	checks_row(a->checks, status == NNB_STATUS_INVALID_ARGUMENT, "%s: %s: getSupportedOperations returns %s",
	           m->name, what, nnb_status_name(status));
	free(each);
	reason.text[0] = '\0';
	status = prepared_new(&p, a->subject, m, NULL, &reason);
	checks_row(a->checks, status == NNB_STATUS_INVALID_ARGUMENT, "%s: %s: prepare returns %s", m->name, what,
	           nnb_status_name(status));
	prepared_free(&p);
}

/* Split "O-11: an operation writes an input" into the rule's id and the rest. A name without an id stays whole. */
static const char *split_rule(const char *name, char id[16])
{
	size_t n = strcspn(name, ":");

	if (name[n] && n < 16 && n >= 2 && !strchr("abcdefghijklmnopqrstuvwxyz", name[n - 1])) {
		memcpy(id, name, n);
		id[n] = '\0';
		return name + n + 2;
	}
	strcpy(id, "O-10");
	return name;
}

/* Require that the driver prepares the models that it supports, and refuses the others. */
static void expect_agreement(const struct asker *a, const struct nnb_model *m, const char *what)
{
	struct nnb_reason reason = { "" };
	bool takes = subject_takes(a->subject, m);
	struct prepared p;
	enum nnb_status status = prepared_new(&p, a->subject, m, NULL, &reason);

	checks_row(a->checks, takes ? status == NNB_STATUS_NONE : status != NNB_STATUS_NONE,
	           "%s: %s by getSupportedOperations, and prepare returns %s (%s)", what,
	           takes ? "all of it is supported" : "not all of it is supported", nnb_status_name(status),
	           reason.text);
	prepared_free(&p);
}

static void check_agreement(struct asker *a)
{
	struct nnb_model *m;

	if (!checks_wants(a->checks, SUITE, "O-17"))
		return;
	checks_begin(a->checks, SUITE, "O-17", "supported models are prepared, and no others");
	for (size_t i = 0; i < sample_count(); i++) {
		m = sample_new(i);
		expect_agreement(a, m, sample_name(i));
		nnb_model_free(m);
	}
	m = sample_named("ADD of float32, broadcast");
	m->operations[0].type = NNB_OEM_OPERATION;
	expect_agreement(a, m, "an OEM operation");
	nnb_model_free(m);
	checks_end(a->checks);
}

void suite_model(const struct subject *s, struct checks *c)
{
	struct asker a = { s, c };
	size_t n;
	const struct model_rule *rules = model_rules(&n);

	for (size_t kind = 0; kind < mutation_count(); kind++) {
		if (!checks_wants(c, SUITE, mutation_rule(kind)))
			continue;
		checks_begin(c, SUITE, mutation_rule(kind), mutation_name(kind));
		for (size_t i = 0; i < sample_count(); i++) {
			struct nnb_model *m = sample_new(i);

			mutate_model_as(kind, m, expect_refused, &a);
			nnb_model_free(m);
		}
		checks_end(c);
	}
	for (size_t i = 0; i < n; i++) {
		const struct model_rule *rule = &rules[i];
		char id[16];
		const char *name = split_rule(rule->name, id);
		struct nnb_model *m;

		if (!checks_wants(a.checks, SUITE, id))
			continue;
		checks_begin(a.checks, SUITE, id, name);
		m = model_rule_new(rule);
		if (rule->valid) {
			bool each[16] = { false };
			struct nnb_reason reason = { "" };

			abort_unless(m->n_operations <= sizeof(each));
			wants_status(a.checks, subject_supported(a.subject, m, each, &reason), NNB_STATUS_NONE, name,
			             &reason);
		} else {
			expect_refused(m, name, &a);
		}
		nnb_model_free(m);
		checks_end(a.checks);
	}
	check_agreement(&a);
}

/* model_rules.h -- models that break one rule of sections 7.1 and 7.2, or that only just keep it. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include "nnb/model.h"

struct model_rule {
	const char *name;   /* "O-11: an operation writes an input"; begins with the rule's id where the rule has one */
	const char *sample; /* sample that is changed (sample_named); NULL: "ADD of float32, broadcast" */
	void (*spoil)(struct nnb_model *m);
	bool valid; /* the model must be accepted */
};

const struct model_rule *model_rules(size_t *ret_n); /* static */

/* Create the model that breaks or keeps @rule. Owned; it may be safe for validation and nnb_model_free only. */
struct nnb_model *model_rule_new(const struct model_rule *rule);

#endif

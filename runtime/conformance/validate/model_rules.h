/* model_rules.h -- models that break one rule of sections 7.1 and 7.2, or just keep it. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include "nnb/model.h"

struct model_rule {
	const char *name;   /* "O-11: an operation writes an input"; the rule's id comes first where it has one */
	const char *sample; /* what is spoilt (sample_named); NULL: "ADD of float32, broadcast" */
	void (*spoil)(struct nnb_model *m);
	bool valid; /* still */
};

const struct model_rule *model_rules(size_t *ret_n); /* static */

/* The model that breaks or keeps @rule. Owned; it may be unfit for everything but being judged and freed. */
struct nnb_model *model_rule_new(const struct model_rule *rule);

#endif

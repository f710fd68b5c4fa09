/*
 * fuzz_slo.c -- any bytes as a file of rules: read, or refused in one line that no terminal obeys. A rule
 * that is read and written again is the same rule.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "slo/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool texts_are_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool text_is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			return false;
	return true;
}

/* A quoted name may have bytes that are printed as others, or quotes, so it is not written as it was read. */
static bool has_quotes(const char *s)
{
	return strpbrk(s, "\"?") != NULL;
}

static void assert_same(const struct bsv_slo_rule *r)
{
	struct bsv_slo again;

	if (has_quotes(r->text) || strlen(r->text) > 1024)
		return;
	assert(bsv_slo_parse(&again, r->text, strlen(r->text), NULL) == 0 && again.n == 1);
	assert(again.rules->kind == r->kind && again.rules->percent == r->percent && again.rules->bound == r->bound);
	assert(again.rules->baseline == r->baseline && again.rules->times == r->times);
	assert(again.rules->most == r->most && again.rules->window == r->window);
	assert(texts_are_same(again.rules->of.app, r->of.app) && texts_are_same(again.rules->of.model, r->of.model));
	assert(texts_are_same(again.rules->text, r->text));
	bsv_slo_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bsa_err err = { "" };
	struct bsv_slo slo;
	int r = bsv_slo_parse(&slo, (const char *)data, size, &err);

	assert(r == 0 || r == BSA_E_INPUT);
	assert((r == 0) == !*err.text && (r == 0) == (slo.n > 0));
	assert(text_is_plain(err.text));
	for (size_t i = 0; i < slo.n; i++) {
		const struct bsv_slo_rule *rule = &slo.rules[i];

		assert(rule->line >= 1 && text_is_plain(rule->text));
		assert(isfinite(rule->bound) && rule->bound >= 0 && rule->bound <= 0x1p62);
		assert(rule->percent >= 0 && rule->percent <= 100 && rule->most <= 1000000 && rule->window <= 1000000);
		assert(rule->kind != BSV_SLO_STREAK || rule->most < rule->window);
		assert_same(rule);
	}
	bsv_slo_fini(&slo);
	return 0;
}

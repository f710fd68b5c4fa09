/* folded.c -- see folded.h. */
#include "analyzer/folded.h"

#include <stdio.h>
#include <stdlib.h>

static void must(int r)
{
	if (!r)
		return;
	fprintf(stderr, "a fold answers %d\n", r);
	abort();
}

void fold_script(struct folded *ret, const char *text, const struct bsa_fold_options *options)
{
	fold_script_until(ret, text, options, NULL);
}

void fold_script_until(struct folded *ret, const char *text, const struct bsa_fold_options *options,
                       const struct fold_end *end)
{
	enum { TRACES = 4 }; /* no script has more */
	struct script *s = script_new(text);
	const struct bsa_event *e;
	struct bsa_facts facts;
	struct bsa_fold *f;

	*ret = (struct folded){ 0 };
	facts = collect_facts(&ret->facts);
	f = bsa_fold_new(&facts, options ? options : &(struct bsa_fold_options){ 0 });
	must(f ? 0 : -1);
	while ((e = script_next(s)))
		must(bsa_fold_event(f, e));
	for (uint32_t trace = 1; end && trace <= TRACES; trace++)
		must(bsa_fold_recorded(f, trace, end->until, end->over_by));
	must(bsa_fold_finish(f));
	ret->left_out = bsa_fold_left_out(f);
	ret->last = bsa_fold_last(f);
	ret->latest_summary = bsa_fold_latest_summary(f);
	bsa_fold_free(f);
	script_free(s);
}

void folded_fini(struct folded *f)
{
	collect_fini(&f->facts);
}

/*
 * streamed.c -- asks the reader for the state of each condition, compares it with the state before,
 * and returns what fired since.
 */
#include "watch/streamed.h"

#include <string.h>

#include "record/packets.h"

/* Each cpu's buffer is written every BSV_STREAMED_TIMER_US, and they do not do so at once. */
static const uint64_t settle_ns = 2 * BSV_STREAMED_TIMER_US * UINT64_C(1000);

int bsv_streamed_begin(struct bsv_streamed *s, const struct bsv_watching *watching, bool compact, struct bsa_err *err)
{
	memset(&s->figures, 0, sizeof(s->figures));
	memset(s->taken, 0, sizeof(s->taken));
	s->old = 0;
	return bsv_reader_watch(&s->reader, s->directory, settle_ns, compact, watching, err);
}

int bsv_streamed_begin_again(struct bsv_streamed *s, const struct bsv_watching *watching, bool compact,
                             struct bsa_err *err)
{
	uint64_t old = s->figures.state.until > s->old ? s->figures.state.until : s->old;
	int r;

	bsv_reader_close(&s->reader);
	r = bsv_streamed_begin(s, watching, compact, err);
	s->old = old;
	return r;
}

int bsv_streamed_ask(struct bsv_streamed *s, struct bsa_err *err)
{
	int r = bsv_reader_conditions(&s->reader, &s->answer, err);

	if (r > 0)
		s->figures = s->answer;
	return r;
}

bool bsv_streamed_next(struct bsv_streamed *s, struct bsv_streamed_fired *ret)
{
	for (unsigned i = 0; i < BSV_CONDITIONS_MOST; i++) {
		const struct bsv_folded *f = &s->figures.folded[i];
		uint64_t n = f->fired - s->taken[i];

		s->taken[i] = f->fired;
		if (!n || f->to <= s->old)
			continue;
		*ret = (struct bsv_streamed_fired){ .condition = i, .n = n, .from = f->from, .to = f->to };
		return true;
	}
	return false;
}

int bsv_streamed_save(struct bsv_streamed *s, const char *path, struct bsa_err *err)
{
	return bsv_reader_save(&s->reader, path, &s->answer, err);
}

void bsv_streamed_end(struct bsv_streamed *s)
{
	bsv_reader_close(&s->reader);
	if (*s->directory && !s->remote)
		bsv_remove_tree(s->directory);
	*s->directory = 0;
}

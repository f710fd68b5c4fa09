/* inverted.c -- writes inversions as rows, and adds those beyond the limit up by wait. */
#include "store/inverted.h"

#include "store/numbers.h"
#include "store/own.h"

static void write_row(struct bsa_store *s, const struct bsa_inverted *i)
{
	s->inverted.rows++;
	ROW(s, inversion, .victim_id = sql_id(i->victim), .holder_id = sql_id(i->holder), .lane = i->lane,
	    .began = sql_time(s->offset, i->began), .dur_ns = sql_ns(i->dur), .open = i->open);
}

/* How much longer the inversion lasted than a step of the execution that held the lane. */
static uint64_t excess_of(const struct bsa_inverted *i)
{
	return i->dur - i->step;
}

static void add_up(struct bsa_inverted_wait *v, const struct bsa_inverted *i)
{
	uint64_t ended = i->began + i->dur;

	v->began = v->n_lesser && v->began < i->began ? v->began : i->began;
	v->ended = v->n_lesser && v->ended > ended ? v->ended : ended;
	v->longest = v->n_lesser && v->longest > i->dur ? v->longest : i->dur;
	v->held = i->dur > UINT64_MAX - v->held ? UINT64_MAX : v->held + i->dur;
	v->n_lesser++;
	v->joined++;
}

void bsa_inverted_finish(struct bsa_store *s)
{
	struct bsa_inverted_wait *v = &s->inverted;

	for (size_t i = 0; i < v->n_kept; i++)
		write_row(s, &v->kept[i]);
	if (v->n_lesser)
		ROW(s, lesser_inversion, .victim_id = sql_id(v->kept[0].victim), .n = sql_count(v->n_lesser),
		    .began = sql_time(s->offset, v->began), .ended = sql_time(s->offset, v->ended),
		    .longest_ns = sql_ns(v->longest), .held_ns = sql_ns(v->held));
	*v = (struct bsa_inverted_wait){ .rows = v->rows, .joined = v->joined };
}

void bsa_inverted_add(struct bsa_store *s, const struct bsa_inverted *i)
{
	struct bsa_inverted_wait *v = &s->inverted;
	size_t at;

	if (v->n_kept && v->kept[0].victim != i->victim)
		bsa_inverted_finish(s);
	if (s->inverted.rows < INVERTED_FREE + INVERTED_OF_AN_EXECUTION * s->counts.executions && !v->n_kept) {
		write_row(s, i);
		return;
	}

	/* Keep @i if it is among the largest. The inversion that has no place then is added to the sum. */
	at = v->n_kept;
	while (at && excess_of(i) > excess_of(&v->kept[at - 1]))
		at--;
	if (at == INVERTED_KEPT) {
		add_up(v, i);
		return;
	}
	if (v->n_kept == INVERTED_KEPT)
		add_up(v, &v->kept[--v->n_kept]);
	for (size_t k = v->n_kept++; k > at; k--)
		v->kept[k] = v->kept[k - 1];
	v->kept[at] = *i;
}

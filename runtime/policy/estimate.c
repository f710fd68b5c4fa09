/* estimate.c -- how long executions of a model take, learned from its runs. */
#include "policy/estimate.h"

enum {
	FIRST_RUNS = 16, /* the first runs are timed ... */
	THEN_EVERY = 64, /* ... then one in so many, unless runs are ... */
	LONG_NS = 50000, /* ... at least this long */
	MEMORY = 8       /* an estimate moves by an eighth of its error */
};

void nnb__estimate_learn(struct nnb__estimate *e, uint64_t ns)
{
	if (e->fixed && (!e->floor_ns || !e->lately_ns ||
	                 ns < e->floor_ns)) /* without an estimate, the floor came from an unfinished run */
		e->floor_ns = ns;
	e->lately_ns = e->lately_ns ? e->lately_ns - e->lately_ns / MEMORY + ns / MEMORY : ns;
	e->confirmed = true;
}

uint64_t nnb__estimate_least(const struct nnb__estimate *e)
{
	return e->confirmed ? e->floor_ns - e->floor_ns / 4 : e->floor_ns / 2;
}

uint64_t nnb__estimate_rest(uint64_t least, float left)
{
	return (uint64_t)((double)least * (double)left);
}

bool nnb__estimate_is_long(const struct nnb__estimate *e)
{
	return (e->lately_ns ? e->lately_ns : e->floor_ns) >= LONG_NS;
}

bool nnb__estimate_due(const struct nnb__estimate *e, uint32_t runs)
{
	return runs < FIRST_RUNS || runs % THEN_EVERY == 0 || nnb__estimate_is_long(e);
}

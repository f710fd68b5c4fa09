/* counts.c -- adds up what readers have counted. */
#include "counts.h"

void bsa_counts_init(struct bsa_counts *counts)
{
	*counts = (struct bsa_counts){ .began = BSA_NEVER, .ended = BSA_NEVER };
}

static uint64_t counter_value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void sum_add(uint64_t *sum, uint64_t n)
{
	*sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

void bsa_counts_add(struct bsa_decoded *sum, const struct bsa_counts *counts)
{
	uint64_t began = counter_value(&counts->began), ended = counter_value(&counts->ended);

	sum->events += counter_value(&counts->events);
	sum->foreign += counter_value(&counts->foreign);
	sum->unusable += counter_value(&counts->unusable);
	sum_add(&sum->lost_events, counter_value(&counts->lost_events));
	sum_add(&sum->lost_packets, counter_value(&counts->lost_packets));
	sum->cut |= atomic_load_explicit(&counts->cut, memory_order_relaxed);
	if (began < sum->began)
		sum->began = began;
	if (ended != BSA_NEVER && (sum->ended == BSA_NEVER || ended > sum->ended))
		sum->ended = ended;
}

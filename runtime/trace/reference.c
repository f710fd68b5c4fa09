/* reference.c -- see reference.h. */
#include "trace/reference.h"

#include "fmq/sys.h"

enum { ROUNDS = 5000 };
#define EVERY_NS UINT64_C(5000000)

static __thread uint64_t measured_at, measured_ns;

/*
 * Many independent integer operations: what fills a core is what other threads of the same core take from it. Measured beside a network, the
 * time of such work follows that of the network more closely than chains of multiplications, sweeps over memory, or products of matrices do.
 */
static void compute(void)
{
	uint64_t a = measured_at | 1, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		a += b ^ i;
		b += c ^ i;
		c += d ^ i;
		d += e ^ i;
		e += f ^ i;
		f += g ^ i;
		g += h ^ i;
		h += a ^ i;
		/* no round can be left out, or put together with another one */
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
	}
}

void nnb__reference_measure(void)
{
	uint64_t now = nnb__now(), began;

	if (now - measured_at < EVERY_NS)
		return;
	measured_at = now;
	began = nnb__cpu_now();
	compute();
	measured_ns = nnb__cpu_now() - began;
}

uint64_t nnb__reference_take(void)
{
	uint64_t ret = measured_ns;

	measured_ns = 0;
	return ret;
}

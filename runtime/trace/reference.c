/* reference.c -- the reference computation: integers, memory sweeps, floats. */
#include "trace/reference.h"

#include <pthread.h>

#include "base/sys.h"

/* Each part takes 2 to 3 us of a fast cpu that has its core to itself. */
enum { ROUNDS = 2500, SWEPT = 128 << 10, FLOATS = 2048, PRODUCTS = 12 };

#define EVERY_NS UINT64_C(5000000)

typedef uint64_t words __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));

enum { N_WORDS = SWEPT / sizeof(words), N_FLOATS = FLOATS * sizeof(float) / sizeof(floats) };

static words swept[N_WORDS]; /* more than a first-level cache holds */
static floats left[N_FLOATS], right[N_FLOATS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;
static __thread uint64_t measured_at, measured_ns;
static __thread volatile words words_used; /* volatile, so that the compiler keeps every sum */
static __thread volatile floats floats_used;

/* Memory that was never written is one page of zeroes. */
static void fill_memory(void)
{
	for (size_t i = 0; i < N_WORDS; i++)
		swept[i] = (words){ i, ~i };
	for (size_t i = 0; i < N_FLOATS; i++)
		left[i] = right[i] = (floats){ 1, 1, 1, 1 };
}

/* Many independent integer operations: what fills a core is what other threads of the same core take from it. */
static void add_integers(void)
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

/* Read what the second-level cache holds, or held: other threads of the core use it, and the ways to it. */
static void sweep_memory(void)
{
	const words *from = swept;
	words a = { 0 }, b = a, c = a, d = a, e = a, f = a, g = a, h = a;

	__asm__ volatile("" : "+r"(from) : : "memory"); /* hides the values from the compiler */
	for (size_t i = 0; i < N_WORDS; i += 8) {
		a += from[i];
		b += from[i + 1];
		c += from[i + 2];
		d += from[i + 3];
		e += from[i + 4];
		f += from[i + 5];
		g += from[i + 6];
		h += from[i + 7];
	}
	words_used = a + b + c + d + e + f + g + h;
}

/* The typical computation of networks: multiply and add floats. */
static void multiply_floats(void)
{
	const floats *x = left, *y = right;
	floats a = { 0 }, b = a, c = a, d = a, e = a, f = a, g = a, h = a;

	__asm__ volatile("" : "+r"(x), "+r"(y) : : "memory");
	for (int times = 0; times < PRODUCTS; times++)
		for (size_t i = 0; i < N_FLOATS; i += 8) {
			a += x[i] * y[i];
			b += x[i + 1] * y[i + 1];
			c += x[i + 2] * y[i + 2];
			d += x[i + 3] * y[i + 3];
			e += x[i + 4] * y[i + 4];
			f += x[i + 5] * y[i + 5];
			g += x[i + 6] * y[i + 6];
			h += x[i + 7] * y[i + 7];
		}
	floats_used = a + b + c + d + e + f + g + h;
}

void nnb__reference_measure(void)
{
	uint64_t now = nnb__now(), began;

	if (now - measured_at < EVERY_NS)
		return;
	measured_at = now;
	pthread_once(&filled, fill_memory);
	began = nnb__cpu_now();
	sweep_memory(); /* as much of it as others left in the caches */
	sweep_memory(); /* all of it is there */
	add_integers();
	multiply_floats();
	measured_ns = nnb__cpu_now() - began;
}

uint64_t nnb__reference_take(void)
{
	uint64_t ret = measured_ns;

	measured_ns = 0;
	return ret;
}

/* siphash.c -- SipHash-2-4-128 (Aumasson and Bernstein), a word at a time. */
#include "driver/siphash.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static uint64_t rotate_left(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void siphash_rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[3];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[2] = rotate_left(v[2], 32);
	}
}

static uint64_t load_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

static void siphash_eat(struct nnb__siphash *s, uint64_t w)
{
	s->v[3] ^= w;
	siphash_rounds(s->v, 2);
	s->v[0] ^= w;
}

void nnb__siphash_init(struct nnb__siphash *s, const uint8_t key[16])
{
	uint64_t k0 = load_word(key), k1 = load_word(key + 8);

	*s = (struct nnb__siphash){ .v = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
		                           k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573 } };
}

void nnb__siphash_add(struct nnb__siphash *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have = s->bytes % 8, want;

	s->bytes += n;
	if (have) {
		want = n < 8 - have ? n : 8 - have;
		memcpy(s->tail + have, p, want);
		if (have + want < 8)
			return;
		siphash_eat(s, load_word(s->tail));
		p += want;
		n -= want;
	}
	for (; n >= 8; p += 8, n -= 8)
		siphash_eat(s, load_word(p));
	assert(n < sizeof(s->tail));
	if (n)
		memcpy(s->tail, p, n);
}

void nnb__siphash_done(struct nnb__siphash *s, uint8_t ret[NNB__SEAL_BYTES])
{
	uint64_t half;

	memset(s->tail + s->bytes % 8, 0, 8 - s->bytes % 8);
	siphash_eat(s, load_word(s->tail) | s->bytes << 56);
	s->v[2] ^= 0xee;
	siphash_rounds(s->v, 4);
	half = htole64(s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3]);
	memcpy(ret, &half, 8);
	s->v[1] ^= 0xdd;
	siphash_rounds(s->v, 4);
	half = htole64(s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3]);
	memcpy(ret + 8, &half, 8);
}

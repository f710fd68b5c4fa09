/*
 * lsh.c -- locality-sensitive hashing: bits that are signs of sums of fingerprints.
 *
 * The fingerprint is farmhash's, of its "na" kind. Multiplications are modulo 2^64, rotations to the right.
 */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "kernels.h"
#include "look.h"

/* ---- the fingerprint ---- */

static const uint64_t K0 = 0xc3a5c85c97cb3127, K1 = 0xb492b66fbe98f273, K2 = 0x9ae16a3b2f90404f;

static uint64_t load_64(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return le64toh(x);
}

static uint64_t load_32(const uint8_t *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return le32toh(x);
}

static uint64_t rotate_right(uint64_t x, unsigned by)
{
	return x >> by | x << (64 - by);
}

static uint64_t shift_mix(uint64_t x)
{
	return x ^ x >> 47;
}

/* Two numbers to one. */
static uint64_t hash_join(uint64_t a, uint64_t b, uint64_t by)
{
	return shift_mix((shift_mix((a ^ b) * by) ^ b) * by) * by;
}

static uint64_t up_to_16(const uint8_t *s, size_t n)
{
	uint64_t by = K2 + 2 * n;

	assert(n <= 16);
	if (n >= 8) {
		uint64_t head = load_64(s) + K2, tail = load_64(s + n - 8);

		return hash_join(rotate_right(tail, 37) * by + head, (rotate_right(head, 25) + tail) * by, by);
	}
	if (n >= 4)
		return hash_join(n + (load_32(s) << 3), load_32(s + n - 4), by);
	if (n)
		return shift_mix((s[0] + ((uint64_t)s[n / 2] << 8)) * K2 ^ (n + ((uint64_t)s[n - 1] << 2)) * K0) * K2;
	return K2;
}

/* The two numbers that the first and the last 16 bytes of up to 64 give. */
struct two {
	uint64_t first, second;
};

static struct two hash_ends(const uint8_t *s, size_t n, uint64_t a, uint64_t by)
{
	uint64_t b = load_64(s + 8), c = load_64(s + n - 8) * by, d = load_64(s + n - 16) * K2;

	return (struct two){ rotate_right(a + b, 43) + rotate_right(c, 30) + d, a + rotate_right(b + K2, 18) + c };
}

static uint64_t up_to_32(const uint8_t *s, size_t n)
{
	uint64_t by = K2 + 2 * n;
	struct two e = hash_ends(s, n, load_64(s) * K1, by);

	assert(n > 16 && n <= 32);
	return hash_join(e.first, e.second, by);
}

static uint64_t up_to_64(const uint8_t *s, size_t n)
{
	uint64_t by = K2 + 2 * n, a = load_64(s) * K2;
	struct two outer = hash_ends(s, n, a, by);
	uint64_t e = load_64(s + 16) * by, f = load_64(s + 24);
	uint64_t g = (outer.first + load_64(s + n - 32)) * by;
	uint64_t h = (hash_join(outer.first, outer.second, by) + load_64(s + n - 24)) * by;

	assert(n > 32 && n <= 64);
	return hash_join(rotate_right(e + f, 43) + rotate_right(g, 30) + h, e + rotate_right(f + a, 18) + g, by);
}

/* State carried from one block of 64 bytes to the next. */
struct mill {
	uint64_t x, y, z;
	struct two v, w;
};

/* 32 bytes into two numbers. */
static struct two weak_hash_32(const uint8_t *s, uint64_t a, uint64_t b)
{
	uint64_t start, through;

	a += load_64(s);
	start = a;
	b = rotate_right(b + a + load_64(s + 24), 21);
	through = a + load_64(s + 8) + load_64(s + 16);
	return (struct two){ through + load_64(s + 24), b + rotate_right(through, 44) + start };
}

/* One block. @by and @weight are K1 and 1, except for the last block. */
static void mill_turn(struct mill *m, const uint8_t *s, uint64_t by, uint64_t weight)
{
	uint64_t x = rotate_right(m->x + m->y + m->v.first + load_64(s + 8), 37) * by ^ m->w.second * weight;
	uint64_t y =
		rotate_right(m->y + m->v.second + load_64(s + 48), 42) * by + m->v.first * weight + load_64(s + 40);
	uint64_t z = rotate_right(m->z + m->w.first, 33) * by;

	m->v = weak_hash_32(s, m->v.second * by, x + m->w.first);
	m->w = weak_hash_32(s + 32, z + m->w.second, y + load_64(s + 16));
	m->y = y;
	m->x = z;
	m->z = x;
}

/* Blocks of 64 bytes, then the last 64 once more in a different way. */
static uint64_t above_64(const uint8_t *s, size_t n)
{
	const uint64_t seed = 81;
	size_t over = (n - 1) % 64;
	struct mill m = { .x = seed * K2 + load_64(s), .y = seed * K1 + 113 };
	uint64_t by;

	assert(n > 64);
	m.z = shift_mix(m.y * K2 + 113) * K2;
	for (size_t at = 0; at + over + 1 < n && nnbx_worked(32); at += 64)
		mill_turn(&m, s + at, K1, 1);
	by = K1 + ((m.z & 0xff) << 1);
	m.w.first += over;
	m.v.first += m.w.first;
	m.w.first += m.v.first;
	mill_turn(&m, s + n - 64, by, 9);
	return hash_join(hash_join(m.v.first, m.w.first, by) + shift_mix(m.y) * K0 + m.z,
	                 hash_join(m.v.second, m.w.second, by) + m.x, by);
}

uint64_t nnbx_fingerprint64(const void *data, size_t n)
{
	if (n <= 16)
		return up_to_16(data, n);
	if (n <= 32)
		return up_to_32(data, n);
	return n <= 64 ? up_to_64(data, n) : above_64(data, n);
}

/* ---- the projection ---- */

size_t nnbx_lsh_projection_scratch(const struct nnbx_lsh_projection *p)
{
	return sizeof(float) + p->item_bytes;
}

/* Whether the weighted sum of all items' fingerprints under @seed is positive. */
static uint32_t sign_bit(const struct nnbx_lsh_projection *p, const float *seed, const char *in, const float *weights,
                         char *key)
{
	double score = 0;

	memcpy(key, seed, sizeof(*seed));
	for (size_t i = 0; i < p->items && nnbx_worked(64); i++) {
		double fingerprint;

		nnbx_copy(key + sizeof(*seed), in + i * p->item_bytes, p->item_bytes);
		fingerprint = (double)(int64_t)nnbx_fingerprint64(key, sizeof(*seed) + p->item_bytes);
		score += weights ? (double)weights[i] * fingerprint : fingerprint;
	}
	return score > 0;
}

void nnbx_lsh_projection(const struct nnbx_lsh_projection *p, const float *hash, const void *in, const float *weights,
                         void *scratch, int32_t *out)
{
	for (size_t i = 0; i < p->hashes && nnbx_worked(1); i++) {
		/* Each hash of the sparse kind has numbers of its own: 2^bits of them. */
		bool apart = p->type == NNBX_LSH_SPARSE && p->bits < 32;
		uint32_t signature = 0;

		for (size_t k = 0; k < p->bits && nnbx_worked(1); k++) {
			uint32_t bit = sign_bit(p, hash + i * p->bits + k, in, weights, scratch);

			signature = signature << 1 | bit;
			if (p->type == NNBX_LSH_DENSE)
				*out++ = (int32_t)bit;
		}
		if (p->type != NNBX_LSH_DENSE)
			*out++ = (int32_t)(signature + (apart ? (uint32_t)i << p->bits : 0));
	}
}

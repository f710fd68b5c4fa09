/* siphash.h -- SipHash-2-4 with 128 bits: a seal on bytes, which takes the key to make. */
#ifndef NNB_DRIVER_SIPHASH_H
#define NNB_DRIVER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { NNB__SEAL_BYTES = 16 };

/* Bytes may come in any number of pieces: init, add..., done. */
struct nnb__siphash {
	uint64_t v[4];
	uint64_t bytes;
	uint8_t tail[8];
};

void nnb__siphash_init(struct nnb__siphash *s, const uint8_t key[16]);
void nnb__siphash_add(struct nnb__siphash *s, const void *data, size_t n);
void nnb__siphash_done(struct nnb__siphash *s, uint8_t ret[NNB__SEAL_BYTES]);

#endif

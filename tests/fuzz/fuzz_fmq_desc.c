/*
 * fuzz_fmq_desc.c -- any bytes as a descriptor on the wire: decoded, attached and used, they do no harm.
 *
 * The input: a byte of choices (the fds that come along, the values of the counters), then the wire form. The
 * fds are always the same sealed memfd: test_fmq_hostile covers what a peer can do with its files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnb/fmq.h"

enum { FILE_BYTES = 1 << 16, MESSAGE_MAX = 4096 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static int file = -1;
static unsigned char *words;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0 || ftruncate(file, FILE_BYTES) < 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		abort();
	words = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (words == MAP_FAILED)
		abort();
	return 0;
}

static void queue_use(struct nnb_fmq *q, size_t elem_size)
{
	static unsigned char message[MESSAGE_MAX];
	struct nnb_fmq_tx tx;
	size_t n = elem_size <= MESSAGE_MAX ? MESSAGE_MAX / elem_size : 0;

	if (n > 3)
		n = 3;
	nnb_fmq_write(q, message, n);
	nnb_fmq_read(q, message, n);
	nnb_fmq_write_blocking(q, message, n, 1);
	nnb_fmq_read_blocking(q, message, n, 1);
	if (nnb_fmq_begin_write(q, nnb_fmq_capacity(q), &tx) == 0 && tx.first.n)
		memset(tx.first.base, 1, 1);
	nnb_fmq_commit_write(q, 1);
	nnb_fmq_available_to_read(q);
	nnb_fmq_available_to_write(q);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fds[NNB_FMQ_MAX_FDS] = { file, file, file, file };
	unsigned char again[NNB_FMQ_WIRE_MAX];
	struct nnb_fmq_attach how;
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	if (size < 1)
		return 0;
	if (nnb_fmq_desc_decode(&d, data + 1, size - 1, fds, data[0] % (NNB_FMQ_MAX_FDS + 1)))
		return 0;
	/* A decoded descriptor must encode to the same bytes. */
	if (nnb_fmq_desc_encode(&d, again, sizeof(again)) != (int)size - 1 || memcmp(again, data + 1, size - 1))
		abort();
	memset(words, data[0], FILE_BYTES);
	how = (struct nnb_fmq_attach){ d.quantum, data[0] & 0x80, NNB_FMQ_WINDOW_NONE };
	if (nnb_fmq_attach(&q, &d, &how) == 0) {
		queue_use(q, d.quantum);
		nnb_fmq_free(q);
	}
	return 0;
}

/*
 * cut_packets FILE [BEGIN END LOST] -- a stream that LTTng-UST wrote: list its packets, or make a hole.
 *
 * The list has a line for each packet: its cpu, its begin and its end by the trace's clock. With more arguments the
 * packets that begin from BEGIN to before END are removed. If LOST is not 0 the packets after them are numbered and
 * count discarded events as if the tracer had discarded LOST events there; otherwise the numbers of the packets show
 * the hole.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/*
 * The fields of a packet that LTTng-UST wrote on a machine of 64 bits; the packet begins with the magic
 * number.
 */
enum {
	AT_BEGIN = 32,
	AT_END = 40,
	AT_PACKET_BITS = 56,
	AT_NUMBER = 64,
	AT_DISCARDED = 72,
	AT_CPU = 80,
	HEADER_BYTES = 84
};
static const uint32_t ctf_magic = 0xc1fc1fc1;

static void refuse(const char *path, const char *why)
{
	fprintf(stderr, "cut_packets: %s: %s\n", path, why);
	exit(1);
}

static uint32_t load_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t load_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The bytes of a file, owned by the caller; it has *ret_n of them. */
/* The size of the packet at @packet, of which the file has @left bytes. */
static size_t packet_size(const char *path, const uint8_t *packet, size_t left)
{
	uint64_t size =
		left < HEADER_BYTES || load_u32(packet) != ctf_magic ? 0 : load_u64(packet + AT_PACKET_BITS) / 8;

	if (size < HEADER_BYTES || size > left)
		refuse(path, "is not a stream of whole packets");
	return (size_t)size;
}

static void packet_add(uint8_t *packet, size_t at, uint64_t more)
{
	uint64_t value = load_u64(packet + at) + more;

	memcpy(packet + at, &value, sizeof(value));
}

static void stream_list(const char *path, const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += packet_size(path, bytes + at, n - at)) {
		const uint8_t *packet = bytes + at;

		printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\n", load_u32(packet + AT_CPU),
		       load_u64(packet + AT_BEGIN), load_u64(packet + AT_END));
	}
}

static void stream_cut(const char *path, uint8_t *bytes, size_t n, uint64_t begin, uint64_t end, uint64_t lost)
{
	uint64_t n_removed = 0;
	FILE *out = fopen(path, "wb");
	size_t size;

	if (!out)
		refuse(path, "cannot be written");
	for (size_t at = 0; at < n; at += size) {
		uint8_t *packet = bytes + at;
		uint64_t began;

		size = packet_size(path, packet, n - at);
		began = load_u64(packet + AT_BEGIN);
		if (began >= begin && began < end) {
			n_removed++;
			continue;
		}
		if (lost && n_removed) {
			packet_add(packet, AT_NUMBER, -n_removed);
			packet_add(packet, AT_DISCARDED, lost);
		}
		if (fwrite(packet, 1, size, out) != size)
			refuse(path, "cannot be written");
	}
	if (fclose(out) != 0)
		refuse(path, "cannot be written");
}

int main(int argc, char **argv)
{
	uint8_t *bytes;
	size_t n;

	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: cut_packets FILE [BEGIN END LOST]\n");
		return 2;
	}
	bytes = (uint8_t *)file_content(argv[1], &n);
	if (!bytes)
		refuse(argv[1], "cannot be read");
	if (argc == 2)
		stream_list(argv[1], bytes, n);
	else
		stream_cut(argv[1], bytes, n, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
		           strtoull(argv[4], NULL, 10));
	free(bytes);
	return 0;
}

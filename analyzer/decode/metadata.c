/* metadata.c -- reads a few values from the text of a trace's metadata. */
#include "metadata.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsa/regular.h"

enum { PACKET_MAGIC = 0x75d11d57, TEXT_MAX = 16 << 20 };

void bsa_uuid_text(char ret[BSA_UUID_TEXT], const uint8_t uuid[16])
{
	char *p = ret;

	for (int i = 0; i < 16; i++)
		p += sprintf(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* Read the whole file, and append a NUL. Owned by the caller. NULL: errno has the error; EFBIG: it is too large. */
static char *read_metadata(const char *directory, size_t *ret_n)
{
	char *path = NULL, *bytes = NULL;
	size_t n = 0, room = 0, got = 1;
	FILE *f;
	int fd, failed = 0;

	if (asprintf(&path, "%s/metadata", directory) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	fd = bsa_open_regular(path);
	free(path);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f) {
		failed = errno;
		close(fd);
		errno = failed;
		return NULL;
	}

	while (got && !failed) {
		if (room - n < 2) {
			char *more = room < TEXT_MAX ? realloc(bytes, room ? room * 2 : 64 << 10) : NULL;

			if (!more) {
				failed = room < TEXT_MAX ? ENOMEM : EFBIG;
				break;
			}
			bytes = more;
			room = room ? room * 2 : 64 << 10;
		}
		got = fread(bytes + n, 1, room - n - 1, f);
		n += got;
		if (ferror(f))
			failed = errno;
	}
	fclose(f);
	if (failed) {
		free(bytes);
		errno = failed;
		return NULL;
	}
	bytes[n] = 0;
	*ret_n = n;
	return bytes;
}

char *bsa_metadata_text(const char *directory)
{
	size_t n = 0;
	char *text = read_metadata(directory, &n);

	for (size_t i = 0; text && i < n; i++)
		if (!isprint((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			text[i] = ' ';
	return text;
}

/* A metadata packet's header, without the padding at its end. */
struct packet_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_bits, packet_bits;
	uint8_t compression, encryption, checksum_scheme, major, minor;
};

enum { PACKET_HEADER = 37 };
static_assert(offsetof(struct packet_header, minor) == PACKET_HEADER - 1, "the header has no padding before its end");

/*
 * One packet after the other to the end of the file, in either byte order. Text that is in no packets has its own
 * end.
 */
static bool is_whole(const char *bytes, size_t n)
{
	struct packet_header header;
	bool swap = false;

	memcpy(&header.magic, bytes, n < sizeof(header.magic) ? n : sizeof(header.magic));
	if (n >= sizeof(header.magic) && header.magic != PACKET_MAGIC)
		swap = header.magic == __builtin_bswap32(PACKET_MAGIC);
	if (n < sizeof(header.magic) || (header.magic != PACKET_MAGIC && !swap))
		return n > 0;
	for (size_t from = 0; from < n;) {
		size_t content, packet;

		if (n - from < PACKET_HEADER)
			return false;
		memcpy(&header, bytes + from, PACKET_HEADER);
		content = swap ? __builtin_bswap32(header.content_bits) : header.content_bits;
		packet = swap ? __builtin_bswap32(header.packet_bits) : header.packet_bits;
		if (content < PACKET_HEADER * 8 || content > packet || packet / 8 > n - from)
			return false;
		from += packet / 8;
	}
	return true;
}

int bsa_metadata_whole(const char *directory, struct bsa_err *err)
{
	size_t n = 0;
	char *bytes = read_metadata(directory, &n);
	bool whole = bytes && is_whole(bytes, n);

	if (!bytes && errno == EFBIG)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: its file metadata has %d MiB or more", directory,
		                TEXT_MAX >> 20);
	if (!bytes)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: its file metadata cannot be read: %s", directory,
		                strerror(errno));
	free(bytes);
	if (!whole)
		return bsa_fail(
			err, BSA_E_INPUT,
			"%s cannot be read: its metadata is cut; if it is still being recorded, lttng stop first",
			directory);
	return 0;
}

/* Remove the packet headers: the texts of the packets become one text. */
static bool unpack_texts(char *bytes, size_t n)
{
	size_t from = 0, to = 0;

	while (from < n) {
		struct packet_header header;
		size_t content, packet;

		if (n - from < PACKET_HEADER)
			return false;
		memcpy(&header, bytes + from, PACKET_HEADER);
		content = header.content_bits / 8;
		packet = header.packet_bits / 8;
		if (header.magic != PACKET_MAGIC || header.content_bits % 8 || header.packet_bits % 8 ||
		    content < PACKET_HEADER || content > packet || packet > n - from || header.compression ||
		    header.encryption || header.checksum_scheme || header.major != 1 || header.minor != 8)
			return false;
		memmove(bytes + to, bytes + from + PACKET_HEADER, content - PACKET_HEADER);
		to += content - PACKET_HEADER;
		from += packet;
	}
	bytes[to] = 0;
	return strlen(bytes) == to;
}

char *bsa_metadata_tsdl(const char *directory)
{
	static const char signature[] = "/* CTF 1.8";
	size_t n = 0;
	char *bytes = read_metadata(directory, &n);
	uint32_t magic = 0;

	if (!bytes)
		return NULL;
	memcpy(&magic, bytes, n < sizeof(magic) ? n : sizeof(magic));
	if ((magic == PACKET_MAGIC ? unpack_texts(bytes, n) : strlen(bytes) == n) &&
	    !strncmp(bytes, signature, strlen(signature)))
		return bytes;
	free(bytes);
	return NULL;
}

char *bsa_metadata_value(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = strstr(text, name); p; p = strstr(p + n, name)) {
		const char *value = p + n;

		if (p > text && !isspace((unsigned char)p[-1]))
			continue;
		value += strspn(value, " =");
		if (*value++ == '"')
			return strndup(value, strcspn(value, "\"\n"));
	}
	return strdup("");
}

void bsa_metadata_uuid(char ret[BSA_UUID_TEXT], const char *directory)
{
	const char *trace, *header, *uuid;
	size_t n = 0;
	char *bytes = read_metadata(directory, &n);
	uint32_t magic = 0;

	ret[0] = 0;
	if (!bytes)
		return;
	memcpy(&magic, bytes, n < sizeof(magic) ? n : sizeof(magic));
	if (n >= 20 && (magic == PACKET_MAGIC || magic == __builtin_bswap32(PACKET_MAGIC))) {
		bsa_uuid_text(ret, (const uint8_t *)bytes + 4);
	} else {
		/* In text, the trace's own uuid stands before what packets look like; others are of clocks. */
		trace = strstr(bytes, "trace {");
		header = trace ? strstr(trace, "packet.header") : NULL;
		uuid = trace ? strstr(trace, "uuid = \"") : NULL;
		if (uuid && (!header || uuid < header))
			snprintf(ret, BSA_UUID_TEXT, "%.36s", uuid + strlen("uuid = \""));
	}
	free(bytes);
	for (char *p = ret; *p; p++)
		*p = (char)tolower((unsigned char)*p);
}

/*
 * header.c -- reads the header of a database file; the layout is SQLite's, which promises not to
 * change it.
 */
#include "store/header.h"

#include "bsa/db.h"
#include "store/own.h"
#include "store/sql.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 100, PAGE_SIZE_AT = 16, PAGES_AT = 28, VERSION_AT = 60, APPLICATION_AT = 68 };

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

enum header_is bsa_header_look(int fd)
{
	uint8_t h[HEADER_BYTES];
	uint32_t page, version;
	ssize_t n = pread(fd, h, sizeof(h), 0);
	struct stat st;

	if (n < 0 || fstat(fd, &st))
		return errno == EISDIR || errno == ESPIPE ? HEADER_FOREIGN : HEADER_UNREADABLE;
	if (n == 0)
		return HEADER_EMPTY;
	if (n < (ssize_t)sizeof(h) || memcmp(h, "SQLite format 3", 16) != 0 ||
	    big_endian(h + APPLICATION_AT) != APPLICATION_ID)
		return HEADER_FOREIGN;
	version = big_endian(h + VERSION_AT);
	if (version != BSA_SCHEMA_VERSION)
		return version < BSA_SCHEMA_VERSION ? HEADER_OLDER : HEADER_NEWER;
	page = (uint32_t)h[PAGE_SIZE_AT] << 8 | h[PAGE_SIZE_AT + 1];
	if (page == 1)
		page = 65536;
	return (uint64_t)st.st_size < (uint64_t)page * big_endian(h + PAGES_AT) ? HEADER_CUT : HEADER_OURS;
}

/* FNV-1a, in the 63 bits of an integer of SQLite that is not negative. */
int64_t bsa_header_schema_digest(void)
{
	uint64_t digest = UINT64_C(14695981039346656037);

	for (const char *p = bsa_sql_schema; *p; p++)
		digest = (digest ^ (uint8_t)*p) * UINT64_C(1099511628211);
	return (int64_t)(digest >> 1);
}

int bsa_header_refuse(enum header_is is, const char *path, struct bsa_err *err)
{
	switch (is) {
	case HEADER_OURS:
		return 0;
	case HEADER_OLDER:
		return bsa_fail(err, BSA_E_INPUT, "%s was made by an older burstscope: import the trace again", path);
	case HEADER_NEWER:
		return bsa_fail(err, BSA_E_INPUT, "%s was made by a newer burstscope: it takes that to read it", path);
	case HEADER_OTHER_BUILD:
		return bsa_fail(
			err, BSA_E_INPUT,
			"%s was made by another build of burstscope, whose tables differ: import the trace again",
			path);
	case HEADER_CUT:
		return bsa_fail(err, BSA_E_INPUT, "the end of %s is missing: import the trace again", path);
	case HEADER_UNREADABLE:
		return bsa_fail(err, BSA_E_ENV, "cannot read %s", path);
	default:
		return bsa_fail(err, BSA_E_INPUT, "%s is not a database of burstscope", path);
	}
}

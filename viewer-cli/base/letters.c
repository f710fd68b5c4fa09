/*
 * letters.c -- decodes, measures and cuts UTF-8 text. The widths of letters are taken from Unicode, not from a locale,
 * so that tables look the same everywhere.
 */
#include "base/letters.h"

#include <assert.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bsv_has_unicode(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

struct range {
	uint32_t from, to;
};

/* Letters that join the letter before, or are not seen. */
static const struct range combining[] = {
	{ 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },   { 0x610, 0x61a },     { 0x64b, 0x65f },
	{ 0x670, 0x670 },   { 0x6d6, 0x6dc },   { 0x6df, 0x6e4 },   { 0x6e7, 0x6ed },     { 0x93c, 0x93c },
	{ 0x941, 0x94d },   { 0xe31, 0xe31 },   { 0xe34, 0xe3a },   { 0xe47, 0xe4e },     { 0x1160, 0x11ff },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0x3099, 0x309a },   { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0x200b, 0x200d }, { 0x2060, 0x2064 }, { 0xe0100, 0xe01ef },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },   { 0x2e80, 0x303e },
	{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

/* Letters that change the direction of the text beside them: a name could make a line read as another one. */
static const struct range turning[] = {
	{ 0x61c, 0x61c },   { 0x200e, 0x200f }, { 0x202a, 0x202e }, { 0x2066, 0x206f },
	{ 0x2028, 0x2029 }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f }
};

/* Letters that are not seen: two names could look the same. */
static const struct range unseen[] = {
	{ 0xad, 0xad },     { 0x34f, 0x34f },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
	{ 0x200b, 0x200d }, { 0x2060, 0x2065 },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfff8 }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0080, 0xe0fff },
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

#define IN(c, ranges) in_ranges(c, ranges, sizeof(ranges) / sizeof(*(ranges)))

static int width_of(uint32_t c)
{
	return c < 0x300 ? 1 : IN(c, combining) ? 0 : IN(c, wide) ? 2 : 1;
}

size_t bsv_letter(const char *s, size_t n, uint32_t *ret)
{
	static const struct {
		unsigned char from, to, second_from, second_to;
		size_t length;
	} kinds[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *u = (const unsigned char *)s;

	assert(n > 0);
	*ret = *u < 0x80 ? *u : 0xfffd;
	if (*u < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = kinds[i].length, j = 2;
		uint32_t letter;

		if (*u < kinds[i].from || *u > kinds[i].to || length > n || u[1] < kinds[i].second_from ||
		    u[1] > kinds[i].second_to)
			continue;
		letter = (*u & (0x7fu >> length)) << 6 | (u[1] & 0x3f);
		for (; j < length && (u[j] & 0xc0) == 0x80; j++)
			letter = letter << 6 | (u[j] & 0x3f);
		if (j < length)
			return 0;
		*ret = letter;
		return length;
	}
	return 0;
}

int bsv_cut(const char *s, int most)
{
	enum { LONGEST = 4 };
	uint32_t letter;
	int at = 0;

	while (at < most && s[at]) {
		size_t n = bsv_letter(s + at, strnlen(s + at, LONGEST), &letter);

		if (at + (int)n > most)
			break;
		at += n ? (int)n : 1; /* a byte that is no letter stands alone */
	}
	return at;
}

bool bsv_obeyed(uint32_t letter)
{
	return letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || IN(letter, turning) || IN(letter, unseen);
}

/* The number of bytes before the first that is no printable letter of ASCII, @bytes at most. */
static size_t plain_letters(const char *s, size_t bytes)
{
	size_t n = 0;

	while (n < bytes && s[n] >= 0x20 && s[n] < 0x7f)
		n++;
	return n;
}

int bsv_width(const char *s)
{
	size_t n = strlen(s), plain = plain_letters(s, n);
	int width = (int)plain;

	s += plain;
	n -= plain;
	while (n) {
		uint32_t c;
		size_t length = bsv_letter(s, n, &c);

		width += length ? width_of(c) : 1;
		s += length ? length : 1;
		n -= length ? length : 1;
	}
	return width;
}

char *bsv_printable(const char *s, size_t bytes, int most)
{
	const char *ellipsis = bsv_has_unicode() ? "…" : "...";
	int reserve = bsv_has_unicode() ? 1 : 3, width = 0;
	char *ret = malloc(bytes * 10 + sizeof("...")), *at = ret, *cut = ret, shown[16];

	if (!ret)
		return NULL;
	assert(most >= 0);
	if ((!most || bytes <= (size_t)most) && plain_letters(s, bytes) == bytes) { /* nearly always */
		memcpy(ret, s, bytes);
		ret[bytes] = 0;
		return ret;
	}
	while (bytes) {
		uint32_t c;
		size_t length = bsv_letter(s, bytes, &c);
		int w;

		/* the first letter, escaped if it must be */
		if (!length || c < 0x20 || c == 0x7f) {
			w = snprintf(shown, sizeof(shown), "\\x%02x", (unsigned char)*s);
			length = length ? length : 1;
		} else if (bsv_obeyed(c) || (c > 0x7f && !bsv_has_unicode())) {
			w = snprintf(shown, sizeof(shown), c > 0xffff ? "\\U%08" PRIx32 : "\\u%04" PRIx32, c);
		} else {
			memcpy(shown, s, length);
			shown[length] = 0;
			w = width_of(c);
		}
		if (most && width + w > most) {
			strcpy(cut, most >= reserve ? ellipsis : "");
			return ret;
		}
		at = stpcpy(at, shown);
		width += w;
		if (width + reserve <= most)
			cut = at;
		s += length;
		bytes -= length;
	}
	*at = 0;
	return ret;
}

char *bsv_printable_lines(const char *s, size_t bytes)
{
	char *ret = malloc(bytes * 10 + 1), *at = ret;

	for (const char *end = s + bytes, *next; ret && s <= end; s = next + 1) {
		const char *found = memchr(s, '\n', (size_t)(end - s));
		char *line;

		next = found ? found : end;
		line = bsv_printable(s, (size_t)(next - s), 0);
		if (!line) {
			free(ret);
			return NULL;
		}
		at = stpcpy(at, line);
		at = found ? stpcpy(at, "\n") : at;
		free(line);
	}
	return ret;
}

size_t bsv_line(const char *s, int width)
{
	size_t at = 0, word = 0, n = strcspn(s, "\n");
	int used = 0;

	while (at < n) {
		uint32_t c;
		size_t length = bsv_letter(s + at, n - at, &c);
		char letter[8] = "";

		length = length ? length : 1;
		memcpy(letter, s + at, length);
		if (used + bsv_width(letter) > width)
			return word ? word : at ? at : length;
		used += bsv_width(letter);
		if (c == ' ')
			word = at;
		at += length;
	}
	return n;
}

/* conjunct.c -- finds where the first condition of a --where that joins several by AND ends. */
#include "input/conjunct.h"

#include <string.h>
#include <strings.h>

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !strncasecmp(text, word, n);
}

bool bsv_first_conjunct(const char *where, size_t *ret, const char **ret_rest)
{
	static const char blanks[] = " \t\n";
	int depth = 0;

	*ret = strlen(where);
	*ret_rest = NULL;
	for (const char *at = where; *at; at++) {
		size_t n = 0;

		if (*at == '\'') { /* a quote in a text is written twice: two texts, for this purpose */
			at = strchr(at + 1, '\'');
			if (!at)
				return false;
			continue;
		}
		if (strchr("\"[`", *at) || !strncmp(at, "--", 2) || !strncmp(at, "/*", 2))
			return false;
		depth += (*at == '(') - (*at == ')');
		if (depth < 0)
			return false;
		while (is_of_word(at[n]))
			n++;
		if (!depth && is_word(at, n, "or"))
			return false;
		if (!depth && !*ret_rest && is_word(at, n, "and")) {
			*ret = (size_t)(at - where);
			*ret_rest = at + n;
		}
		at += n ? n - 1 : 0;
	}
	while (*ret && strchr(blanks, where[*ret - 1]))
		--*ret;
	if (*ret_rest)
		*ret_rest += strspn(*ret_rest, blanks);
	return !depth;
}

/* tokens.c -- reads a C file into tokens and statements. It knows no types and expands no macros. */
#include "tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* The words of C and of its headers that a rename never changes. Every other word is a name. */
static const char *const keywords[] = {
	"NULL",    "assert",  "bool",   "break",    "case",   "char",          "const",    "continue",
	"default", "do",      "double", "else",     "enum",   "extern",        "false",    "float",
	"for",     "goto",    "if",     "inline",   "int",    "long",          "register", "restrict",
	"return",  "short",   "signed", "sizeof",   "static", "static_assert", "struct",   "switch",
	"true",    "typedef", "union",  "unsigned", "void",   "volatile",      "while",
};

static const char *const marks[] = { "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
	                             "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=" };

uint64_t tokens_hash(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *each = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ each[i]) * UINT64_C(0x100000001b3);
	return hash;
}

bool token_is(const struct tokens *t, size_t i, const char *text)
{
	return i < t->n && t->all[i].length == strlen(text) &&
	       !memcmp(t->source + t->all[i].at, text, t->all[i].length);
}

/* Returns the first byte from @at on that is neither space nor comment nor a line of the preprocessor. */
static size_t skip_blank(const char *source, size_t at, bool *line_begins)
{
	for (;; at++) {
		if (source[at] == '\n') {
			*line_begins = true;
		} else if (!strncmp(source + at, "/*", 2)) {
			const char *end = strstr(source + at + 2, "*/");

			if (!end)
				return strlen(source);
			at = (size_t)(end + 1 - source);
		} else if (!strncmp(source + at, "//", 2) || (source[at] == '#' && *line_begins)) {
			while (source[at] && (source[at] != '\n' || source[at - 1] == '\\'))
				at++;
			at--;
		} else if (!isspace((unsigned char)source[at])) {
			return at;
		}
	}
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static size_t number_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '.' ||
	       ((at[n] == '+' || at[n] == '-') && strchr("eE", at[n - 1])))
		n++;
	return n;
}

static size_t text_length(const char *at)
{
	size_t n = 1;

	while (at[n] && at[n] != at[0])
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return n + (at[n] == at[0]);
}

static size_t mark_length(const char *at)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!strncmp(at, marks[i], strlen(marks[i])))
			return strlen(marks[i]);
	return 1;
}

static bool is_keyword(const char *at, size_t length)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (strlen(keywords[i]) == length && !memcmp(keywords[i], at, length))
			return true;
	return false;
}

static void classify(struct token *token, const char *at)
{
	if (isalpha((unsigned char)*at) || *at == '_') {
		token->length = word_length(at);
		token->kind = is_keyword(at, token->length) ? TOKEN_KEYWORD : TOKEN_NAME;
	} else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
		token->length = number_length(at);
		token->kind = TOKEN_NUMBER;
	} else if (*at == '"' || *at == '\'') {
		token->length = text_length(at);
		token->kind = TOKEN_TEXT;
	} else {
		token->length = mark_length(at);
		token->kind = TOKEN_MARK;
	}
}

static void split(struct tokens *t)
{
	bool line_begins = true;
	size_t line = 1, counted = 0, line_at = 0;

	for (size_t at = skip_blank(t->source, 0, &line_begins); at < t->length;
	     at = skip_blank(t->source, at, &line_begins)) {
		struct token *token = &t->all[t->n];

		for (; counted < at; counted++) {
			if (t->source[counted] == '\n') {
				line++;
				line_at = counted + 1;
			}
		}
		*token = (struct token){ .at = at, .line = line, .column = at - line_at + 1, .partner = t->n };
		classify(token, t->source + at);
		at += token->length;
		line_begins = false;
		t->n++;
	}
}

/* Finds the partner of each bracket, and the tokens that are between the braces of a function. */
static int pair_brackets(struct tokens *t)
{
	size_t *open = calloc(t->n + 1, sizeof(*open)), n = 0, body_ends = 0;

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		char mark = t->all[i].kind == TOKEN_MARK ? t->source[t->all[i].at] : ' ';

		if (strchr("([{", mark)) {
			open[n++] = i;
		} else if (strchr(")]}", mark) && n) {
			t->all[i].partner = open[--n];
			t->all[open[n]].partner = i;
		}
	}
	free(open);
	for (size_t i = 1; i < t->n; i++) {
		if (i > body_ends && token_is(t, i, "{") && token_is(t, i - 1, ")"))
			body_ends = t->all[i].partner;
		t->all[i].in_function = i < body_ends;
	}
	return 0;
}

static uint64_t shape_of(const struct tokens *t, size_t first, size_t end)
{
	uint64_t hash = TOKENS_HASH;

	for (size_t i = first; i < end; i++) {
		const struct token *each = &t->all[i];

		if (each->kind == TOKEN_NAME || each->kind == TOKEN_TEXT)
			hash = tokens_hash(hash, each->kind == TOKEN_NAME ? "name " : "text ", 5);
		else
			hash = tokens_hash(tokens_hash(hash, t->source + each->at, each->length), " ", 1);
	}
	return hash;
}

static void group(struct tokens *t)
{
	struct statement *now = t->statements;
	size_t depth = 0;

	for (size_t i = 0; i < t->n; i++) {
		t->all[i].statement = (size_t)(now - t->statements);
		if (token_is(t, i, "(") || token_is(t, i, "["))
			depth++;
		else if ((token_is(t, i, ")") || token_is(t, i, "]")) && depth)
			depth--;
		if (i + 1 < t->n && (depth || !(token_is(t, i, ";") || token_is(t, i, "{") || token_is(t, i, "}"))))
			continue;
		now->end = i + 1;
		now->shape = shape_of(t, now->first, now->end);
		(++now)->first = i + 1;
	}
	t->n_statements = (size_t)(now - t->statements);
}

int tokens_read(struct tokens *ret, const char *path)
{
	struct tokens t = { 0 };
	int result;

	t.source = file_content(path, &t.length);
	result = t.source ? 0 : errno ? -errno : -EIO; /* free and fclose may have changed errno */
	if (!result) {
		t.all = calloc(t.length + 1, sizeof(*t.all));
		t.statements = calloc(t.length + 2, sizeof(*t.statements));
		result = t.all && t.statements ? 0 : -ENOMEM;
	}
	if (!result) {
		split(&t);
		result = pair_brackets(&t);
	}
	if (result < 0) {
		tokens_free(&t);
		return result;
	}
	group(&t);
	*ret = t;
	return 0;
}

void tokens_free(struct tokens *t)
{
	free(t->source);
	free(t->all);
	free(t->statements);
	*t = (struct tokens){ 0 };
}

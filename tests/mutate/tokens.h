/* tokens.h -- the tokens of a C file, its statements, and the shape of each: what is left when names are taken away. */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_NAME, TOKEN_KEYWORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_MARK };

struct token {
	enum token_kind kind;
	size_t at, length;   /* bytes of the source */
	size_t line, column; /* from 1; the column counts bytes */
	size_t partner;      /* for a bracket: the index of the other one; for any other token: its own index */
	size_t statement;    /* the index of the statement that the token belongs to */
	bool in_function;
};

/*
 * A statement is a run of tokens that ends with ; or { or } outside of parentheses. `if (a) b();` is one, and so is the
 * header of a function.
 */
struct statement {
	size_t first, end; /* tokens, end excluded */
	uint64_t shape; /* a hash of the tokens; all names count as the same name, and all strings as the same string */
};

struct tokens {
	char *source; /* owned */
	size_t length;
	struct token *all; /* owned */
	size_t n;
	struct statement *statements; /* owned */
	size_t n_statements;
};

/* Reads the file @path. 0, or -errno; then @ret holds nothing. */
int tokens_read(struct tokens *ret, const char *path);
void tokens_free(struct tokens *t);

/* True if token @i is spelled @text. False if there is no token @i. */
bool token_is(const struct tokens *t, size_t i, const char *text);

/* Continues the hash @hash, which begins as TOKENS_HASH, with @length bytes. */
#define TOKENS_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tokens_hash(uint64_t hash, const void *bytes, size_t length);

#endif

/*
 * mutants.c -- plants defects in a C file: small changes of its syntax, each of which a good test notices.
 *
 *     mutants FILE             lists the mutants of the file: key, line:column, operator, the replaced text and its
 *                              replacement
 *     mutants --places FILE    lists all places that an edit can name: the mutants, then every value and statement
 *     mutants FILE EDIT...     prints the file with all these edits made; exits with 1 if a place does not exist
 *
 * EDITS      KEY makes the change of that mutant. KEY=TEXT replaces that place by TEXT, in which @@ stands for the
 *            present text of the place, and @KEY@ for the present text of another place.
 * OPERATORS  relation    <, <=, >, >=, ==, != becomes another one, or its right side moves by one
 *            logic       && becomes ||, and the reverse
 *            operand     one side of &&, ||, +, -, *, /, | or & goes away
 *            condition   of if, while, for or ?: is always true, or always false
 *            arithmetic  + becomes -, * becomes /, | becomes &, and the reverse; << becomes >>
 *            assign      += becomes -= or =, ++ becomes --, and so on
 *            statement   a call, an assignment, a break, a continue or a return goes away
 *            return      returns 0, or true
 *            constant    a number moves by one; true becomes false, and the reverse
 *            swap        two neighbouring arguments or values of the same shape change places
 * KEYS       A key is a hash of the operator and of the statement with its two neighbours, in which all names count as
 *            the same name and all strings as the same string. A rename, another message, other comments, another
 *            layout, or a move of the function to another place or file keeps every key. A change of a statement
 *            changes the keys in it and in its neighbours. The second place of a file with the same key gets the
 *            suffix .2, and so on.
 * LIMITS     The tool knows no types. Some mutants do not compile, and some are equivalent to the original.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens.h"

struct mutant {
	uint64_t key;
	unsigned int nth; /* its number among those with this key, from 1 */
	const char *operator;
	const char *variant;
	size_t line, column;
	size_t from, to; /* bytes of the source that @text replaces */
	char *text;      /* owned; NULL: a place without a replacement of its own */
};

struct mutants {
	const struct tokens *tokens;
	struct mutant *all; /* owned; the mutants come first, then the other places */
	size_t n, room;
};

static void *must(void *allocated)
{
	if (!allocated) {
		fputs("mutants: out of memory\n", stderr);
		exit(2);
	}
	return allocated;
}

static const struct statement *statement_of(const struct tokens *t, size_t i)
{
	return &t->statements[t->all[i].statement];
}

/* ---- keys ---- */

static uint64_t key_of(const struct tokens *t, size_t first, size_t end, const char *operator, const char * variant)
{
	size_t nth = t->all[first].statement;
	size_t place[] = { first - t->statements[nth].first, end - first };
	uint64_t hash = tokens_hash(TOKENS_HASH, place, sizeof(place));

	hash = tokens_hash(hash, operator, strlen(operator) + 1);
	hash = tokens_hash(hash, variant, strlen(variant) + 1);
	for (size_t i = nth ? nth - 1 : 0; i <= nth + 1 && i < t->n_statements; i++)
		hash = tokens_hash(hash, &t->statements[i].shape, sizeof(t->statements[i].shape));
	return hash >> 24;
}

/* Adds a place: the tokens from @first to before @end. Takes @text. */
static void add(struct mutants *m, size_t first, size_t end, const char *operator, const char * variant, char *text)
{
	const struct tokens *t = m->tokens;
	struct mutant new = { .key = key_of(t, first, end, operator, variant),
		              .nth = 1,
		              .operator= operator,
		              .variant = variant,
		              .line = t->all[first].line,
		              .column = t->all[first].column,
		              .from = t->all[first].at,
		              .to = t->all[end - 1].at + t->all[end - 1].length,
		              .text = text };

	for (size_t i = 0; i < m->n; i++)
		new.nth += m->all[i].key == new.key;
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->all = must(realloc(m->all, m->room * sizeof(*m->all)));
	}
	m->all[m->n++] = new;
}

/* Adds the mutant that replaces the tokens from @first to before @end by what @format gives. */
__attribute__((format(printf, 6, 7))) static void
plant(struct mutants *m, size_t first, size_t end, const char *operator, const char * variant, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	add(m, first, end, operator, variant, must(text));
}

/* ---- expressions ---- */

enum { BINDS_COMMA, BINDS_ASSIGN, BINDS_CHOICE, BINDS_OR, BINDS_AND, BINDS_BITS, BINDS_EQUAL = 8, BINDS_SUM = 11 };

static const struct {
	const char *mark;
	int binds;
} operators[] = {
	{ ",", BINDS_COMMA },      { "=", BINDS_ASSIGN },     { "+=", BINDS_ASSIGN },    { "-=", BINDS_ASSIGN },
	{ "*=", BINDS_ASSIGN },    { "/=", BINDS_ASSIGN },    { "%=", BINDS_ASSIGN },    { "&=", BINDS_ASSIGN },
	{ "|=", BINDS_ASSIGN },    { "^=", BINDS_ASSIGN },    { "<<=", BINDS_ASSIGN },   { ">>=", BINDS_ASSIGN },
	{ "?", BINDS_CHOICE },     { ":", BINDS_CHOICE },     { "||", BINDS_OR },        { "&&", BINDS_AND },
	{ "|", BINDS_BITS },       { "^", BINDS_BITS + 1 },   { "&", BINDS_BITS + 2 },   { "==", BINDS_EQUAL },
	{ "!=", BINDS_EQUAL },     { "<", BINDS_EQUAL + 1 },  { "<=", BINDS_EQUAL + 1 }, { ">", BINDS_EQUAL + 1 },
	{ ">=", BINDS_EQUAL + 1 }, { "<<", BINDS_EQUAL + 2 }, { ">>", BINDS_EQUAL + 2 }, { "+", BINDS_SUM },
	{ "-", BINDS_SUM },        { "*", BINDS_SUM + 1 },    { "/", BINDS_SUM + 1 },    { "%", BINDS_SUM + 1 },
};

/* True if token @i can be the last one of a value. */
static bool ends_value(const struct tokens *t, size_t i)
{
	const struct token *token = &t->all[i];

	return token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBER || token->kind == TOKEN_TEXT ||
	       token_is(t, i, ")") || token_is(t, i, "]") || token_is(t, i, "NULL") || token_is(t, i, "true") ||
	       token_is(t, i, "false");
}

/* True if the * at token @i declares a pointer, as in `const struct x *` and at the beginning of `x *y = z`. */
static bool declares(const struct tokens *t, size_t i)
{
	return token_is(t, i, "*") &&
	       (token_is(t, i + 1, ")") || token_is(t, i + 1, "*") || token_is(t, i - 2, "struct") ||
	        token_is(t, i - 2, "enum") || token_is(t, i - 2, "const") || statement_of(t, i)->first == i - 1);
}

/* Returns how strongly the operator at token @i binds two values; -1 if there is no such operator. */
static int binds(const struct tokens *t, size_t i)
{
	if (t->all[i].kind != TOKEN_MARK)
		return -1;
	if (strchr("+-*&", t->source[t->all[i].at]) && t->all[i].length == 1 &&
	    (!ends_value(t, i - 1) || declares(t, i)))
		return -1;
	for (size_t each = 0; each < sizeof(operators) / sizeof(*operators); each++)
		if (token_is(t, i, operators[each].mark))
			return operators[each].binds;
	return -1;
}

static bool separates(const struct tokens *t, size_t i)
{
	static const char *const separators[] = { "(", ")", "[", "]", "{", "}", ";", "return", "else", "case", "do" };

	for (size_t each = 0; each < sizeof(separators) / sizeof(*separators); each++)
		if (token_is(t, i, separators[each]))
			return true;
	return false;
}

/*
 * The value to the left of token @i; operators in the value bind at least as strongly as @least. Returns its first
 * token.
 */
static size_t value_begins(const struct tokens *t, size_t i, int least)
{
	while (i > 0) {
		size_t before = i - 1;

		if ((token_is(t, before, ")") || token_is(t, before, "]")) && t->all[before].partner < before)
			before = t->all[before].partner;
		else if (separates(t, before) || (binds(t, before) >= 0 && binds(t, before) < least))
			break;
		i = before;
	}
	return i;
}

/* The value that begins at token @i; operators in the value bind at least as strongly as @least. Returns its end. */
static size_t value_ends(const struct tokens *t, size_t i, int least)
{
	while (i < t->n) {
		bool opens = token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{");

		if (!opens && (separates(t, i) || (binds(t, i) >= 0 && binds(t, i) < least)))
			break;
		i = t->all[i].partner > i ? t->all[i].partner + 1 : i + 1;
	}
	return i;
}

static int text_of(const struct tokens *t, size_t first, size_t end)
{
	return (int)(t->all[end - 1].at + t->all[end - 1].length - t->all[first].at);
}

/* For "%.*s": the source of the tokens from @first to before @end. */
#define SOURCE(t, first, end) text_of(t, first, end), (t)->source + (t)->all[first].at

/* ---- operators on one operator ---- */

static void plant_relation(struct mutants *m, size_t i)
{
	static const struct {
		const char *mark, *nearby, *reverse;
		int moved;
	} relations[] = {
		{ "<", "<=", ">", -1 },  { "<=", "<", ">=", 1 },  { ">", ">=", "<", 1 },
		{ ">=", ">", "<=", -1 }, { "==", "!=", NULL, 0 }, { "!=", "==", NULL, 0 },
	};
	const struct tokens *t = m->tokens;

	for (size_t each = 0; each < sizeof(relations) / sizeof(*relations); each++) {
		if (!token_is(t, i, relations[each].mark))
			continue;
		plant(m, i, i + 1, "relation", relations[each].nearby, "%s", relations[each].nearby);
		if (!relations[each].reverse)
			continue;
		plant(m, i, i + 1, "relation", relations[each].reverse, "%s", relations[each].reverse);
		size_t end = value_ends(t, i + 1, binds(t, i) + 1);

		if (end == i + 2 && t->all[i + 1].kind == TOKEN_NUMBER)
			continue; /* the operator on constants moves it */
		plant(m, i + 1, end, "relation", relations[each].moved > 0 ? "+ 1" : "- 1", "(%.*s) %s",
		      SOURCE(t, i + 1, end), relations[each].moved > 0 ? "+ 1" : "- 1");
	}
}

/* One operator becomes another one. */
static void plant_exchange(struct mutants *m, size_t i)
{
	static const struct {
		const char *mark, *operator, * others[2];
	} exchanges[] = {
		{ "&&", "logic", { "||" } },       { "||", "logic", { "&&" } },       { "+", "arithmetic", { "-" } },
		{ "-", "arithmetic", { "+" } },    { "*", "arithmetic", { "/" } },    { "/", "arithmetic", { "*" } },
		{ "|", "arithmetic", { "&" } },    { "&", "arithmetic", { "|" } },    { "<<", "arithmetic", { ">>" } },
		{ "+=", "assign", { "-=", "=" } }, { "-=", "assign", { "+=", "=" } }, { "|=", "assign", { "=" } },
		{ "&=", "assign", { "=" } },
	};

	for (size_t each = 0; each < sizeof(exchanges) / sizeof(*exchanges); each++)
		for (size_t other = 0; other < 2 && token_is(m->tokens, i, exchanges[each].mark); other++)
			if (exchanges[each].others[other])
				plant(m, i, i + 1, exchanges[each].operator, exchanges[each].others[other], "%s",
				      exchanges[each].others[other]);
}

/* One side of the operator goes away, together with the operator. */
static void plant_operand(struct mutants *m, size_t i)
{
	const struct tokens *t = m->tokens;
	int strength = binds(t, i);
	size_t begin = value_begins(t, i, strength + 1), end = value_ends(t, i + 1, strength + 1);
	bool is_first = begin == value_begins(t, i, strength);

	if (begin >= i || end <= i + 1)
		return;
	plant(m, i, end, "operand", "right", "/**/");
	if (is_first && !strchr("-/", t->source[t->all[i].at]))
		plant(m, begin, i + 1, "operand", "left", "/**/");
}

static bool has_operands(const struct tokens *t, size_t i)
{
	static const char *const all[] = { "&&", "||", "+", "-", "*", "/", "|", "&" };

	for (size_t each = 0; each < sizeof(all) / sizeof(*all); each++)
		if (token_is(t, i, all[each]))
			return true;
	return false;
}

/* ---- operators on values ---- */

static void plant_condition(struct mutants *m, size_t first, size_t end, bool may_be_true)
{
	const char *spelled = end == first + 1 && token_is(m->tokens, first, "true") ? "true" : "";

	if (first >= end)
		return;
	if (may_be_true && !*spelled)
		plant(m, first, end, "condition", "true", "true");
	plant(m, first, end, "condition", "false", "false");
}

/* The condition of the if, while or for at token @i. A while and a for that never end would only cost time. */
static void plant_keyword(struct mutants *m, size_t i)
{
	const struct tokens *t = m->tokens;
	size_t open = i + 1, close, part;

	if (open >= t->n || !token_is(t, open, "("))
		return;
	close = t->all[open].partner;
	if (token_is(t, i, "if")) {
		plant_condition(m, open + 1, close, true);
	} else if (token_is(t, i, "while")) {
		plant_condition(m, open + 1, close, false);
	} else if (token_is(t, i, "for")) {
		for (part = open + 1; part < close && !token_is(t, part, ";"); part++)
			;
		size_t end = ++part;

		while (end < close && !token_is(t, end, ";"))
			end++;
		plant_condition(m, part, end, false);
	}
}

static void plant_constant(struct mutants *m, size_t i)
{
	const struct tokens *t = m->tokens;
	const struct token *token = &t->all[i];
	unsigned long value = 0;

	if (token_is(t, i, "true"))
		plant(m, i, i + 1, "constant", "false", "false");
	if (token_is(t, i, "false"))
		plant(m, i, i + 1, "constant", "true", "true");
	if (token->kind != TOKEN_NUMBER || token->length > 9)
		return;
	for (size_t each = 0; each < token->length; each++) {
		if (!isdigit((unsigned char)t->source[token->at + each]))
			return;
		value = 10 * value + (unsigned long)(t->source[token->at + each] - '0');
	}
	plant(m, i, i + 1, "constant", "+ 1", "%lu", value + 1);
	if (value)
		plant(m, i, i + 1, "constant", "- 1", "%lu", value - 1);
}

/* True if the tokens from @a to before @b and from @b + 1 to before @end have the same shape, and are not the same. */
static bool are_alike(const struct tokens *t, size_t a, size_t a_end, size_t b, size_t b_end)
{
	bool same = true;

	if (a_end - a != b_end - b || a == a_end)
		return false;
	for (size_t i = 0; i < a_end - a; i++) {
		const struct token *x = &t->all[a + i], *y = &t->all[b + i];
		bool equal = x->length == y->length && !memcmp(t->source + x->at, t->source + y->at, x->length);

		if (x->kind != y->kind || (!equal && x->kind == TOKEN_MARK))
			return false;
		same = same && equal;
	}
	return !same;
}

/* In `[x] = value`, and in `.x = value`, the value. */
static size_t element_value(const struct tokens *t, size_t first, size_t end)
{
	if (token_is(t, first, "[") || token_is(t, first, "."))
		for (size_t i = first; i < end; i++)
			if (token_is(t, i, "="))
				return i + 1;
	return first;
}

/* Neighbours in the list that the bracket at token @open opens. */
static void plant_swaps(struct mutants *m, size_t open)
{
	const struct tokens *t = m->tokens;
	size_t close = t->all[open].partner, first = open + 1, last = 0, last_end = 0, end;

	for (; first < close; first = end + 1) {
		size_t value;

		end = value_ends(t, first, BINDS_ASSIGN);
		if (end < close && !token_is(t, end, ","))
			return; /* the braces hold no list of values, but a block or the head of a for */
		value = element_value(t, first, end);
		if (last && are_alike(t, last, last_end, value, end))
			plant(m, last, end, "swap", "", "%.*s%.*s%.*s", SOURCE(t, value, end),
			      (int)(t->all[value].at - t->all[last_end].at), t->source + t->all[last_end].at,
			      SOURCE(t, last, last_end));
		last = value;
		last_end = end;
	}
}

/* ---- operators on statements ---- */

/* Skips the prefixes of a statement: else, if (), for (), while (), case x: and labels. */
static size_t skip_prefix(const struct tokens *t, size_t i, size_t end)
{
	for (;;) {
		if (token_is(t, i, "else") || token_is(t, i, "do")) {
			i++;
		} else if ((token_is(t, i, "if") || token_is(t, i, "for") || token_is(t, i, "while") ||
		            token_is(t, i, "switch")) &&
		           i + 1 < end) {
			i = t->all[i + 1].partner + 1;
		} else if (token_is(t, i, "case") || token_is(t, i, "default")) {
			while (i < end && !token_is(t, i, ":"))
				i++;
			i++;
		} else if (i + 1 < end && t->all[i].kind == TOKEN_NAME && token_is(t, i + 1, ":")) {
			i += 2;
		} else {
			return i;
		}
	}
}

static bool is_declaration(const struct tokens *t, size_t first, size_t end)
{
	if (t->all[first].kind == TOKEN_KEYWORD)
		return true;
	for (size_t i = first + 1; i < end && (token_is(t, i, "*") || t->all[i].kind == TOKEN_NAME); i++)
		if (t->all[i].kind == TOKEN_NAME && t->all[first].kind == TOKEN_NAME)
			return true;
	return false;
}

static void plant_return(struct mutants *m, size_t first, size_t end, bool bool_function)
{
	const struct tokens *t = m->tokens;

	if (!token_is(t, end + 1, "}") || t->all[end + 1].in_function)
		plant(m, first, end, "statement", "", "/**/");
	if (end - first < 3) /* a constant alone belongs to that operator */
		return;
	plant(m, first + 1, end, "return", "0", "0");
	if (bool_function)
		plant(m, first + 1, end, "return", "true", "true");
}

/* @bool_function: the statement is in a function that returns bool. */
static void plant_statement(struct mutants *m, const struct statement *s, bool bool_function)
{
	const struct tokens *t = m->tokens;
	size_t first = skip_prefix(t, s->first, s->end), end = s->end - 1;

	if (!token_is(t, end, ";") || first >= end || token_is(t, first, "goto"))
		return;
	if (token_is(t, first, "return"))
		plant_return(m, first, end, bool_function);
	else if (token_is(t, first, "break") || token_is(t, first, "continue") || !is_declaration(t, first, end))
		plant(m, first, end, "statement", "", "/**/");
}

/* ---- the file ---- */

static bool is_in_for(const struct tokens *t, size_t i)
{
	const struct statement *s = statement_of(t, i);

	for (size_t each = s->first; each < i; each++)
		if (token_is(t, each, "for") && each + 1 < s->end && t->all[each + 1].partner > i)
			return true;
	return false;
}

static bool is_label(const struct tokens *t, size_t i)
{
	const struct statement *s = statement_of(t, i);

	return token_is(t, s->first, "case") && i < skip_prefix(t, s->first, s->end);
}

static void plant_at(struct mutants *m, size_t i)
{
	const struct tokens *t = m->tokens;
	int strength = binds(t, i);

	if (token_is(t, i, "?"))
		plant_condition(m, value_begins(t, i, BINDS_OR), i, true);
	if (strength > BINDS_COMMA) {
		plant_relation(m, i);
		plant_exchange(m, i);
		if (has_operands(t, i))
			plant_operand(m, i);
	}
	if ((token_is(t, i, "++") || token_is(t, i, "--")) && !is_in_for(t, i))
		plant(m, i, i + 1, "assign", "step", token_is(t, i, "++") ? "--" : "++");
	plant_keyword(m, i);
	if (!is_label(t, i))
		plant_constant(m, i);
	if (token_is(t, i, "(") || token_is(t, i, "{"))
		plant_swaps(m, i);
}

static void plant_all(struct mutants *m)
{
	const struct tokens *t = m->tokens;
	bool bool_function = false;

	for (size_t nth = 0; nth < t->n_statements; nth++) {
		const struct statement *s = &t->statements[nth];
		size_t first = skip_prefix(t, s->first, s->end);

		if (!t->all[s->first].in_function) {
			bool_function = token_is(t, s->first, "bool") || token_is(t, s->first + 1, "bool");
			if (token_is(t, s->end - 1, "{") && token_is(t, s->end - 2, "="))
				plant_swaps(m, s->end - 1);
			continue;
		}
		if (token_is(t, first, "assert") || token_is(t, first, "static_assert"))
			continue; /* a test need not notice a missing assertion */
		for (size_t i = s->first; i < s->end; i++)
			plant_at(m, i);
		plant_statement(m, s, bool_function);
	}
}

/* Adds the values that begin with the name or number at token @i: of x->y[z], these are x, x->y and x->y[z]. */
static void add_values(struct mutants *m, size_t i)
{
	const struct tokens *t = m->tokens;
	size_t end = i + 1;

	if (t->all[i].kind != TOKEN_NAME && t->all[i].kind != TOKEN_NUMBER)
		return;
	if (token_is(t, i - 1, "->") || token_is(t, i - 1, "."))
		return;
	add(m, i, end, "value", "", NULL);
	for (;;) {
		if (token_is(t, end, "->") || token_is(t, end, "."))
			end += 2;
		else if (token_is(t, end, "[") || token_is(t, end, "("))
			end = t->all[end].partner + 1;
		else
			return;
		add(m, i, end, "value", "", NULL);
	}
}

static void add_places(struct mutants *m)
{
	const struct tokens *t = m->tokens;

	for (size_t i = 1; i < t->n; i++)
		if (t->all[i].in_function)
			add_values(m, i);
	for (size_t nth = 0; nth < t->n_statements; nth++)
		if (t->all[t->statements[nth].first].in_function)
			add(m, t->statements[nth].first, t->statements[nth].end, "whole", "", NULL);
}

/* ---- output ---- */

static void print_flat(const char *text, size_t length)
{
	bool blank = false;

	for (size_t i = 0; i < length; i++) {
		if (isspace((unsigned char)text[i])) {
			blank = true;
			continue;
		}
		printf("%s%c", blank ? " " : "", text[i]);
		blank = false;
	}
}

static int spell_key(const struct mutant *mutant, char *ret, size_t room)
{
	return snprintf(ret, room, mutant->nth > 1 ? "%010llx.%u" : "%010llx", (unsigned long long)mutant->key,
	                mutant->nth);
}

static void list(const struct mutants *m)
{
	char key[64];

	for (size_t i = 0; i < m->n; i++) {
		const struct mutant *each = &m->all[i];

		spell_key(each, key, sizeof(key));
		printf("%s\t%zu:%zu\t%s%s%s\t", key, each->line, each->column,
		       each->operator, * each->variant ? " " : "", each->variant);
		print_flat(m->tokens->source + each->from, each->to - each->from);
		if (each->text) {
			fputs(" => ", stdout);
			print_flat(each->text, strlen(each->text));
		}
		putchar('\n');
	}
}

static const struct mutant *find(const struct mutants *m, const char *key, size_t length)
{
	char spelled[64];

	for (size_t i = 0; i < m->n; i++)
		if ((size_t)spell_key(&m->all[i], spelled, sizeof(spelled)) == length && !memcmp(spelled, key, length))
			return &m->all[i];
	fprintf(stderr, "mutants: no place %.*s\n", (int)length, key);
	return NULL;
}

/* Writes the text of an edit to @to. False if it names a place that does not exist. */
static bool fill_in(const struct mutants *m, const struct mutant *place, const char *text, FILE *to)
{
	const struct mutant *other;

	for (const char *end; *text; text = end + 1) {
		end = strchrnul(text, '@');
		fwrite(text, 1, (size_t)(end - text), to);
		if (!*end)
			break;
		text = end + 1;
		end = strchrnul(text, '@');
		other = end == text ? place : find(m, text, (size_t)(end - text));
		if (!other || !*end)
			return false;
		fwrite(m->tokens->source + other->from, 1, other->to - other->from, to);
	}
	return true;
}

struct edit {
	const struct mutant *place;
	char *text; /* owned */
};

static bool edit_read(struct edit *ret, const struct mutants *m, const char *spelled)
{
	const char *key_ends = strchrnul(spelled, '=');
	size_t length;
	FILE *to;
	bool done;

	*ret = (struct edit){ .place = find(m, spelled, (size_t)(key_ends - spelled)) };
	if (!ret->place || (!*key_ends && !ret->place->text))
		return false;
	to = must(open_memstream(&ret->text, &length));
	done = *key_ends ? fill_in(m, ret->place, key_ends + 1, to) : fputs(ret->place->text, to) >= 0;
	fclose(to);
	return done;
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return (x->place->from > y->place->from) - (x->place->from < y->place->from);
}

/* Prints the source with all edits made. Two of them may not overlap. */
static int print_edited(const struct mutants *m, char **spelled, size_t n)
{
	struct edit *edits = must(calloc(n, sizeof(*edits)));
	size_t at = 0;
	int result = 0;

	for (size_t i = 0; i < n && !result; i++)
		result = edit_read(&edits[i], m, spelled[i]) ? 0 : 1;
	if (!result)
		qsort(edits, n, sizeof(*edits), by_place);
	for (size_t i = 0; i < n && !result; i++) {
		if (edits[i].place->from < at)
			result = 1;
		else
			printf("%.*s%s", (int)(edits[i].place->from - at), m->tokens->source + at, edits[i].text);
		at = edits[i].place->to;
	}
	if (!result)
		fputs(m->tokens->source + at, stdout);
	for (size_t i = 0; i < n; i++)
		free(edits[i].text);
	free(edits);
	return result;
}

int main(int argc, char **argv)
{
	struct tokens tokens;
	struct mutants mutants = { .tokens = &tokens };
	bool places = argc > 1 && !strcmp(argv[1], "--places");
	char **rest = argv + 1 + places;
	int result = 0;

	if (!*rest || (places && rest[1])) {
		fputs("usage: mutants [--places] FILE, or mutants FILE EDIT...\n", stderr);
		return 2;
	}
	result = tokens_read(&tokens, *rest);
	if (result < 0) {
		fprintf(stderr, "mutants: cannot read %s: %s\n", *rest, strerror(-result));
		return 2;
	}
	plant_all(&mutants);
	if (places || rest[1])
		add_places(&mutants);
	if (rest[1])
		result = print_edited(&mutants, rest + 1, (size_t)(argv + argc - rest - 1));
	else
		list(&mutants);
	for (size_t i = 0; i < mutants.n; i++)
		free(mutants.all[i].text);
	free(mutants.all);
	tokens_free(&tokens);
	return result;
}

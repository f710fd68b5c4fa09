/*
 * tsdl.c -- parses metadata by recursive descent. After the first unknown construct it consumes
 * nothing more.
 */
#include "tsdl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, FIELDS_MAX = 256, ALIASES_MAX = 256, BLOCK = 64 << 10 };

enum token { END, WORD, NUMBER, TEXT, ASSIGN, DOTS, SIGN };

struct block {
	struct block *next;
	size_t n, room;
	char bytes[];
};

/* A name for a type: of an alias, or of a structure. */
struct alias {
	const char *name;
	const struct bsa_tsdl_type *type;
	bool structure;
	struct alias *next;
};

struct parser {
	const char *at;
	enum token token;
	const char *text; /* the token's, of words and text */
	uint64_t number;
	char sign;
	bool negative, failed, has_clock, little;
	unsigned depth, n_aliases;
	struct block *memory;
	struct alias *aliases;
	struct bsa_tsdl *tsdl;
	struct bsa_tsdl_stream **streams;
	struct bsa_tsdl_event **events;
};

static const struct bsa_tsdl_type *parse_type(struct parser *p);

static void *parser_alloc(struct parser *p, size_t bytes)
{
	struct block *block = p->memory;
	void *taken;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!block || block->room - block->n < bytes) {
		size_t room = bytes > BLOCK ? bytes : BLOCK;

		block = calloc(1, sizeof(*block) + room + 16);
		if (!block)
			return NULL;
		*block = (struct block){ .next = p->memory, .room = room };
		p->memory = block;
	}
	taken = block->bytes + block->n;
	block->n += bytes;
	return taken;
}

static void parser_fail(struct parser *p)
{
	p->failed = true;
	p->token = END;
}

/* ---- words ---- */

static void skip_blanks(struct parser *p)
{
	for (;;) {
		p->at += strspn(p->at, " \t\r\n");
		if (p->at[0] == '/' && p->at[1] == '*') {
			p->at = strstr(p->at + 2, "*/");
			if (!p->at) {
				p->at = "";
				parser_fail(p);
				return;
			}
			p->at += 2;
		} else if (p->at[0] == '/' && p->at[1] == '/') {
			p->at += strcspn(p->at, "\n");
		} else {
			return;
		}
	}
}

static void copy_text(struct parser *p, const char *from, size_t n)
{
	char *text = parser_alloc(p, n + 1);

	if (!text) {
		parser_fail(p);
		return;
	}
	memcpy(text, from, n);
	p->text = text;
}

/* Text with an escape in it is not looked into: it reads as none that is asked for. */
static void read_text(struct parser *p)
{
	const char *from = ++p->at;
	bool escaped = false;

	while (*p->at && *p->at != '"' && *p->at != '\n') {
		if (*p->at == '\\' && p->at[1]) {
			escaped = true;
			p->at++;
		}
		p->at++;
	}
	if (*p->at != '"') {
		parser_fail(p);
		return;
	}
	p->token = TEXT;
	copy_text(p, escaped ? "\\" : from, escaped ? 1 : (size_t)(p->at - from));
	p->at++;
}

static void next_token(struct parser *p)
{
	const char *from;
	char *end;

	skip_blanks(p);
	if (p->failed)
		return;
	from = p->at;
	if (!*from) {
		p->token = END;
	} else if (isalpha((unsigned char)*from) || *from == '_') {
		while (isalnum((unsigned char)*p->at) || *p->at == '_')
			p->at++;
		p->token = WORD;
		copy_text(p, from, (size_t)(p->at - from));
	} else if (*from == '"') {
		read_text(p);
	} else if (isdigit((unsigned char)*from) || *from == '-') {
		p->negative = *from == '-';
		p->at += p->negative;
		if (!isdigit((unsigned char)*p->at)) {
			parser_fail(p);
			return;
		}
		errno = 0;
		p->number = strtoull(p->at, &end, 0);
		p->at = end;
		p->token = NUMBER;
		if (errno || isalnum((unsigned char)*end) || *end == '_')
			parser_fail(p);
	} else if (!strncmp(from, ":=", 2)) {
		p->token = ASSIGN;
		p->at += 2;
	} else if (!strncmp(from, "...", 3)) {
		p->token = DOTS;
		p->at += 3;
	} else {
		p->token = SIGN;
		p->sign = *p->at++;
	}
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token == WORD && !strcmp(p->text, word);
}

static bool is_sign(const struct parser *p, char sign)
{
	return p->token == SIGN && p->sign == sign;
}

static bool ate_sign(struct parser *p, char sign)
{
	bool is = is_sign(p, sign);

	if (is)
		next_token(p);
	return is;
}

static bool ate_word(struct parser *p, const char *word)
{
	bool is = is_word(p, word);

	if (is)
		next_token(p);
	return is;
}

static void want_sign(struct parser *p, char sign)
{
	if (!ate_sign(p, sign))
		parser_fail(p);
}

static const char *want_word(struct parser *p)
{
	const char *word = p->text;

	if (p->token != WORD) {
		parser_fail(p);
		return "";
	}
	next_token(p);
	return word;
}

static const char *want_text(struct parser *p)
{
	const char *text = p->text;

	if (p->token != TEXT) {
		parser_fail(p);
		return "";
	}
	next_token(p);
	return text;
}

static uint64_t want_number(struct parser *p)
{
	uint64_t number = p->number;

	if (p->token != NUMBER || p->negative) {
		parser_fail(p);
		return 0;
	}
	next_token(p);
	return number;
}

/* Names of several words, as packet.header and clock.monotonic.value are. */
static bool ate_path(struct parser *p, const char *first, const char *second)
{
	if (!is_word(p, first))
		return false;
	next_token(p);
	want_sign(p, '.');
	if (!ate_word(p, second))
		parser_fail(p);
	return true;
}

/* ---- types ---- */

static struct bsa_tsdl_type *new_type(struct parser *p, enum bsa_tsdl_kind kind)
{
	struct bsa_tsdl_type *made = parser_alloc(p, sizeof(*made));

	if (!made) {
		parser_fail(p);
		return NULL;
	}
	made->kind = kind;
	made->align = 1;
	return made;
}

static unsigned want_small(struct parser *p, unsigned max)
{
	uint64_t number = want_number(p);

	if (number == 0 || number > max)
		parser_fail(p);
	return (unsigned)number;
}

static bool want_truth(struct parser *p)
{
	uint64_t number;

	if (ate_word(p, "true"))
		return true;
	if (ate_word(p, "false"))
		return false;
	number = want_number(p);
	if (number > 1)
		parser_fail(p);
	return number;
}

static void want_byte_order(struct parser *p)
{
	if (!ate_word(p, "le") && !ate_word(p, "native"))
		parser_fail(p);
}

static void want_encoding(struct parser *p, struct bsa_tsdl_type *made)
{
	const char *word = want_word(p);

	made->is_text = strcmp(word, "none");
	if (made->is_text && strcmp(word, "UTF8") && strcmp(word, "ASCII"))
		parser_fail(p);
}

static const struct bsa_tsdl_type *parse_integer(struct parser *p)
{
	struct bsa_tsdl_type *made = new_type(p, BSA_TSDL_INTEGER);

	if (!made)
		return NULL;
	made->align = 0;
	want_sign(p, '{');
	while (!p->failed && !is_sign(p, '}')) {
		const char *name = want_word(p);

		want_sign(p, '=');
		if (!strcmp(name, "size"))
			made->bits = want_small(p, 64);
		else if (!strcmp(name, "align"))
			made->align = want_small(p, 64);
		else if (!strcmp(name, "signed"))
			made->is_signed = want_truth(p);
		else if (!strcmp(name, "byte_order"))
			want_byte_order(p);
		else if (!strcmp(name, "map")) {
			if (!ate_word(p, "clock"))
				parser_fail(p);
			want_sign(p, '.');
			if (strcmp(want_word(p), p->tsdl->clock))
				parser_fail(p);
			want_sign(p, '.');
			if (!ate_word(p, "value"))
				parser_fail(p);
			made->is_clock = true;
		} else if (!strcmp(name, "encoding"))
			want_encoding(p, made);
		else if (strcmp(name, "base"))
			parser_fail(p);
		else if (p->token == WORD || p->token == NUMBER)
			next_token(p);
		want_sign(p, ';');
	}
	want_sign(p, '}');
	if (!made->bits)
		parser_fail(p);
	if (!made->align)
		made->align = made->bits % 8 ? 1 : 8;
	return made;
}

/* A floating-point type: only its size is used. */
static const struct bsa_tsdl_type *parse_real(struct parser *p)
{
	struct bsa_tsdl_type *made = new_type(p, BSA_TSDL_REAL);
	uint64_t exponent = 0, mantissa = 0;

	want_sign(p, '{');
	while (made && !p->failed && !is_sign(p, '}')) {
		const char *name = want_word(p);

		want_sign(p, '=');
		if (!strcmp(name, "exp_dig"))
			exponent = want_number(p);
		else if (!strcmp(name, "mant_dig"))
			mantissa = want_number(p);
		else if (!strcmp(name, "align"))
			made->align = want_small(p, 64);
		else if (!strcmp(name, "byte_order"))
			want_byte_order(p);
		else
			parser_fail(p);
		want_sign(p, ';');
	}
	want_sign(p, '}');
	if (!made)
		return NULL;
	if (!(exponent == 8 && mantissa == 24) && !(exponent == 11 && mantissa == 53))
		parser_fail(p);
	made->bits = (unsigned)(exponent + mantissa);
	return made;
}

static const struct bsa_tsdl_type *parse_string(struct parser *p)
{
	struct bsa_tsdl_type *made = new_type(p, BSA_TSDL_STRING);

	if (!made)
		return NULL;
	made->align = 8;
	if (!ate_sign(p, '{'))
		return made;
	while (!p->failed && !is_sign(p, '}')) {
		if (!ate_word(p, "encoding"))
			parser_fail(p);
		want_sign(p, '=');
		want_encoding(p, made);
		want_sign(p, ';');
	}
	want_sign(p, '}');
	return made;
}

static uint64_t want_signed(struct parser *p)
{
	uint64_t number = p->negative ? -p->number : p->number;

	if (p->token != NUMBER)
		parser_fail(p);
	else
		next_token(p);
	return number;
}

static const struct bsa_tsdl_type *parse_enumeration(struct parser *p)
{
	struct bsa_tsdl_type *made = new_type(p, BSA_TSDL_INTEGER);
	const struct bsa_tsdl_label **end;
	const struct bsa_tsdl_type *of;

	want_sign(p, ':');
	of = parse_type(p);
	if (!made || !of || of->kind != BSA_TSDL_INTEGER || of->is_clock) {
		parser_fail(p);
		return NULL;
	}
	*made = *of;
	want_sign(p, '{');
	end = &made->labels;
	while (!p->failed && !is_sign(p, '}')) {
		struct bsa_tsdl_label *label = parser_alloc(p, sizeof(*label));

		if (!label || (p->token != WORD && p->token != TEXT)) {
			parser_fail(p);
			break;
		}
		label->name = p->text;
		next_token(p);
		want_sign(p, '=');
		label->first = label->last = want_signed(p);
		if (p->token == DOTS) {
			next_token(p);
			label->last = want_signed(p);
		}
		*end = label;
		end = (const struct bsa_tsdl_label **)&label->next;
		if (!is_sign(p, '}'))
			want_sign(p, ',');
	}
	want_sign(p, '}');
	return made;
}

/* Between braces. */
static void parse_fields(struct parser *p, struct bsa_tsdl_type *made)
{
	struct bsa_tsdl_field **end = &made->fields;
	unsigned n = 0;

	want_sign(p, '{');
	while (!p->failed && !is_sign(p, '}')) {
		struct bsa_tsdl_field *field = parser_alloc(p, sizeof(*field));
		const struct bsa_tsdl_type *of = parse_type(p);
		struct bsa_tsdl_type *array = NULL;

		if (!field || !of) {
			parser_fail(p);
			return;
		}
		field->name = want_word(p);
		field->type = of;
		if (ate_sign(p, '['))
			array = new_type(p, p->token == NUMBER ? BSA_TSDL_ARRAY : BSA_TSDL_SEQUENCE);
		if (array) {
			if (p->token == NUMBER)
				array->length = want_number(p);
			else
				array->by = want_word(p);
			want_sign(p, ']');
			if (is_sign(p, '['))
				parser_fail(p);
			array->element = of;
			array->align = of->align;
			array->is_text = of->kind == BSA_TSDL_INTEGER && of->is_text && of->bits == 8 &&
			                 of->align == 8 && !of->is_clock;
			field->type = array;
		}
		want_sign(p, ';');

		for (const struct bsa_tsdl_field *other = made->fields; other && !p->failed; other = other->next)
			if (!strcmp(bsa_tsdl_name(other->name), bsa_tsdl_name(field->name)))
				parser_fail(p);
		if (p->failed || ++n > FIELDS_MAX) {
			parser_fail(p);
			return;
		}
		*end = field;
		end = &field->next;
		if (made->kind == BSA_TSDL_STRUCT && field->type->align > made->align)
			made->align = field->type->align;
	}
	want_sign(p, '}');
}

static const struct bsa_tsdl_type *type_named(struct parser *p, const char *name, bool structure)
{
	for (const struct alias *alias = p->aliases; alias; alias = alias->next)
		if (alias->structure == structure && !strcmp(alias->name, name))
			return alias->type;
	parser_fail(p);
	return NULL;
}

static void name_type(struct parser *p, const char *name, const struct bsa_tsdl_type *of, bool structure)
{
	struct alias *alias = parser_alloc(p, sizeof(*alias));

	for (const struct alias *other = p->aliases; other; other = other->next)
		if (other->structure == structure && !strcmp(other->name, name))
			alias = NULL; /* ambiguous */
	if (!alias || !of || ++p->n_aliases > ALIASES_MAX) {
		parser_fail(p);
		return;
	}
	*alias = (struct alias){ .name = name, .type = of, .structure = structure, .next = p->aliases };
	p->aliases = alias;
}

static const struct bsa_tsdl_type *parse_structure(struct parser *p)
{
	const char *name = p->token == WORD ? want_word(p) : NULL;
	struct bsa_tsdl_type *made;

	if (name && !is_sign(p, '{'))
		return type_named(p, name, true);
	made = new_type(p, BSA_TSDL_STRUCT);
	if (!made)
		return NULL;
	parse_fields(p, made);
	if (ate_word(p, "align")) {
		unsigned align;

		want_sign(p, '(');
		align = want_small(p, 64);
		want_sign(p, ')');
		if (align > made->align)
			made->align = align;
	}
	if (name)
		name_type(p, name, made, true);
	return made;
}

static const struct bsa_tsdl_type *parse_variant(struct parser *p)
{
	struct bsa_tsdl_type *made = new_type(p, BSA_TSDL_VARIANT);

	if (!made)
		return NULL;
	want_sign(p, '<');
	made->by = want_word(p);
	want_sign(p, '>');
	parse_fields(p, made);
	return made;
}

static bool is_of_c(const char *word)
{
	static const char *const words[] = { "unsigned", "signed", "char", "short", "int", "long" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* The name of an alias: one word, or several of C's. */
static const char *alias_name(struct parser *p)
{
	const char *name = want_word(p);

	while (!p->failed && is_of_c(name + (strrchr(name, ' ') ? strrchr(name, ' ') - name + 1 : 0)) &&
	       p->token == WORD && is_of_c(p->text)) {
		char *longer = parser_alloc(p, strlen(name) + strlen(p->text) + 2);

		if (!longer) {
			parser_fail(p);
			return name;
		}
		strcat(strcat(strcpy(longer, name), " "), p->text);
		name = longer;
		next_token(p);
	}
	return name;
}

static const struct bsa_tsdl_type *parse_type(struct parser *p)
{
	const struct bsa_tsdl_type *made = NULL;

	if (++p->depth > DEPTH_MAX)
		parser_fail(p);
	else if (ate_word(p, "integer"))
		made = parse_integer(p);
	else if (ate_word(p, "floating_point"))
		made = parse_real(p);
	else if (ate_word(p, "string"))
		made = parse_string(p);
	else if (ate_word(p, "enum"))
		made = parse_enumeration(p);
	else if (ate_word(p, "struct"))
		made = parse_structure(p);
	else if (ate_word(p, "variant"))
		made = parse_variant(p);
	else
		made = type_named(p, alias_name(p), false);
	p->depth--;
	if (!made)
		parser_fail(p);
	return p->failed ? NULL : made;
}

static const struct bsa_tsdl_type *want_structure(struct parser *p)
{
	const struct bsa_tsdl_type *made;

	if (p->token != ASSIGN)
		parser_fail(p);
	next_token(p);
	made = parse_type(p);
	if (made && made->kind != BSA_TSDL_STRUCT)
		parser_fail(p);
	return made;
}

/* ---- what there is in metadata ---- */

static void trace_entry(struct parser *p)
{
	if (ate_path(p, "packet", "header")) {
		p->tsdl->packet_header = want_structure(p);
		return;
	}
	if (ate_word(p, "major")) {
		want_sign(p, '=');
		if (want_number(p) != 1)
			parser_fail(p);
	} else if (ate_word(p, "minor")) {
		want_sign(p, '=');
		if (want_number(p) != 8)
			parser_fail(p);
	} else if (ate_word(p, "uuid")) {
		want_sign(p, '=');
		p->tsdl->uuid = want_text(p);
	} else if (ate_word(p, "byte_order")) {
		want_sign(p, '=');
		if (!ate_word(p, "le"))
			parser_fail(p);
		p->little = true;
	} else {
		parser_fail(p);
	}
}

static void env_entry(struct parser *p)
{
	const char *name = want_word(p);

	want_sign(p, '=');
	if (!strcmp(name, "tracer_name") && p->token == TEXT)
		p->tsdl->tracer = p->text;
	if (!strcmp(name, "tracer_major") && p->token == NUMBER)
		p->tsdl->tracer_major = p->number;
	if (!strcmp(name, "tracer_minor") && p->token == NUMBER)
		p->tsdl->tracer_minor = p->number;
	if (p->token != TEXT && p->token != NUMBER)
		parser_fail(p);
	next_token(p);
}

static void clock_entry(struct parser *p)
{
	static const char *const others[] = { "uuid", "description", "precision", "offset_s", "offset", "absolute" };
	const char *name = want_word(p);

	want_sign(p, '=');
	if (!strcmp(name, "name")) {
		if (p->token != TEXT && p->token != WORD)
			parser_fail(p);
		p->tsdl->clock = p->text;
		next_token(p);
		return;
	}
	if (!strcmp(name, "freq")) {
		p->tsdl->frequency = want_number(p);
		return;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]) && p->token != SIGN) {
			next_token(p);
			return;
		}
	parser_fail(p);
}

static void parse_stream(struct parser *p)
{
	struct bsa_tsdl_stream *made = parser_alloc(p, sizeof(*made));

	if (!made) {
		parser_fail(p);
		return;
	}
	want_sign(p, '{');
	while (!p->failed && !is_sign(p, '}')) {
		if (ate_word(p, "id")) {
			want_sign(p, '=');
			made->id = want_number(p);
		} else if (ate_path(p, "packet", "context")) {
			made->packet_context = want_structure(p);
		} else if (ate_word(p, "event")) {
			want_sign(p, '.');
			if (ate_word(p, "header"))
				made->event_header = want_structure(p);
			else if (ate_word(p, "context"))
				made->event_context = want_structure(p);
			else
				parser_fail(p);
		} else {
			parser_fail(p);
		}
		want_sign(p, ';');
	}
	*p->streams = made;
	p->streams = &made->next;
}

static void parse_event(struct parser *p)
{
	struct bsa_tsdl_event *made = parser_alloc(p, sizeof(*made));

	if (!made) {
		parser_fail(p);
		return;
	}
	want_sign(p, '{');
	while (!p->failed && !is_sign(p, '}')) {
		const char *name;

		if (ate_path(p, "model", "emf")) {
			want_sign(p, '.');
			if (!ate_word(p, "uri"))
				parser_fail(p);
			want_sign(p, '=');
			want_text(p);
		} else if (ate_word(p, "fields")) {
			made->payload = want_structure(p);
		} else if (ate_word(p, "context")) {
			made->context = want_structure(p);
		} else {
			name = want_word(p);
			want_sign(p, '=');
			if (!strcmp(name, "name"))
				made->name = want_text(p);
			else if (!strcmp(name, "id"))
				made->id = want_number(p);
			else if (!strcmp(name, "stream_id"))
				made->stream = want_number(p);
			else if (!strcmp(name, "loglevel"))
				want_number(p);
			else
				parser_fail(p);
		}
		want_sign(p, ';');
	}
	if (!made->name)
		parser_fail(p);
	*p->events = made;
	p->events = &made->next;
}

static void parse_entries(struct parser *p, void (*one)(struct parser *p))
{
	want_sign(p, '{');
	while (!p->failed && !is_sign(p, '}')) {
		one(p);
		want_sign(p, ';');
	}
}

static void parse_item(struct parser *p)
{
	bool braces = true;

	if (ate_word(p, "trace")) {
		parse_entries(p, trace_entry);
	} else if (ate_word(p, "env")) {
		parse_entries(p, env_entry);
	} else if (ate_word(p, "clock")) {
		if (p->has_clock)
			parser_fail(p);
		p->has_clock = true;
		parse_entries(p, clock_entry);
	} else if (ate_word(p, "stream")) {
		parse_stream(p);
	} else if (ate_word(p, "event")) {
		parse_event(p);
	} else {
		braces = false;
		if (ate_word(p, "typealias")) {
			const struct bsa_tsdl_type *of = parse_type(p);

			if (p->token != ASSIGN)
				parser_fail(p);
			next_token(p);
			name_type(p, alias_name(p), of, false);
		} else if (ate_word(p, "struct")) {
			parse_structure(p);
		} else {
			parser_fail(p);
		}
	}
	if (braces)
		want_sign(p, '}');
	want_sign(p, ';');
}

static void free_blocks(struct block *block)
{
	while (block) {
		struct block *gone = block;

		block = block->next;
		free(gone);
	}
}

struct bsa_tsdl *bsa_tsdl_parse(const char *text)
{
	struct parser p = { .at = text };

	p.tsdl = parser_alloc(&p, sizeof(*p.tsdl));
	if (!p.tsdl)
		return NULL;
	*p.tsdl = (struct bsa_tsdl){ .clock = "", .uuid = "", .tracer = "" };
	p.streams = &p.tsdl->streams;
	p.events = &p.tsdl->events;
	next_token(&p);
	while (!p.failed && p.token != END)
		parse_item(&p);
	p.tsdl->memory = p.memory;
	if (p.failed || !p.little) {
		free_blocks(p.memory);
		return NULL;
	}
	return p.tsdl;
}

struct bsa_tsdl *bsa_tsdl_free(struct bsa_tsdl *tsdl)
{
	if (tsdl)
		free_blocks(tsdl->memory);
	return NULL;
}

const char *bsa_tsdl_name(const char *name)
{
	return name + (*name == '_');
}

const struct bsa_tsdl_type *bsa_tsdl_field(const struct bsa_tsdl_type *structure, const char *name)
{
	const struct bsa_tsdl_field *field = structure ? structure->fields : NULL;

	while (field && strcmp(bsa_tsdl_name(field->name), name))
		field = field->next;
	return field ? field->type : NULL;
}

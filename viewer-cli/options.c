/* options.c -- see options.h: getopt_long, from our tables. */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

enum { MOST_OPTIONS = 32, LONG_ONLY = 256 };

static const struct bsv_option common[] = {
	{ .name = "quiet",
	  .letter = 'q',
	  .says = "say nothing but what is wrong",
	  .offset = offsetof(struct bsv_common, quiet) },
	{ .name = "verbose", .letter = 'v', .says = "say more", .offset = offsetof(struct bsv_common, verbose) },
	{ .name = "help", .letter = 'h', .says = "this text", .offset = offsetof(struct bsv_common, help) },
	{ .name = NULL },
};

/* Both tables as getopt wants them. */
struct table {
	struct option longs[MOST_OPTIONS + 1];
	char shorts[2 * MOST_OPTIONS + 2];
	const struct bsv_option *of[MOST_OPTIONS];
	void *base[MOST_OPTIONS];
	int n;
};

static void add(struct table *t, const struct bsv_option *options, void *base)
{
	for (const struct bsv_option *o = options; o && o->name; o++) {
		bool takes = o->kind != BSV_SWITCH;

		assert(t->n < MOST_OPTIONS);
		t->longs[t->n] = (struct option){ o->name, takes, NULL, LONG_ONLY + t->n };
		if (o->letter) {
			size_t end = strlen(t->shorts);

			t->shorts[end] = o->letter;
			t->shorts[end + 1] = takes ? ':' : 0;
		}
		t->of[t->n] = o;
		t->base[t->n++] = base;
	}
}

/* Which option getopt's @c is. */
static int found(const struct table *t, int c)
{
	if (c >= LONG_ONLY)
		return c - LONG_ONLY;
	for (int i = 0; i < t->n; i++)
		if (t->of[i]->letter == c)
			return i;
	return -1;
}

static int number(const struct bsv_option *o, const char *text, unsigned *ret, struct bsa_err *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value > o->most)
		return bsa_fail(err, BSA_E_USAGE, "--%s: '%s' is no number from 0 to %u", o->name, text, o->most);
	*ret = (unsigned)value;
	return 0;
}

static int choice(const struct bsv_option *o, const char *text, int *ret, struct bsa_err *err)
{
	const char *nearest;
	size_t n = 0;

	for (; o->choices[n]; n++)
		if (!strcmp(text, o->choices[n])) {
			*ret = (int)n;
			return 0;
		}
	nearest = bsv_nearest(text, o->choices, n, sizeof(*o->choices));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "--%s: no '%s'; did you mean '%s'?", o->name, text, nearest);
	return bsa_fail(err, BSA_E_USAGE, "--%s: no '%s'; there are %s", o->name, text, o->argument);
}

static int set(const struct bsv_option *o, void *base, const char *text, struct bsa_err *err)
{
	void *to = (char *)base + o->offset;

	switch (o->kind) {
	case BSV_SWITCH:
		*(bool *)to = true;
		return 0;
	case BSV_TEXT:
		*(const char **)to = text;
		return 0;
	case BSV_NUMBER:
		return number(o, text, to, err);
	case BSV_CHOICE:
		return choice(o, text, to, err);
	}
	return 0;
}

/* getopt did not like @word. */
static int refused(const struct table *t, const char *command, const char *word, int letter, struct bsa_err *err)
{
	int i = letter ? found(t, letter) : -1;
	const char *nearest;
	char name[64];

	if (i >= 0 && t->of[i]->kind != BSV_SWITCH)
		return bsa_fail(err, BSA_E_USAGE, "--%s: %s is missing", t->of[i]->name, t->of[i]->argument);
	if (i >= 0)
		return bsa_fail(err, BSA_E_USAGE, "--%s takes no argument", t->of[i]->name);
	if (letter)
		return bsa_fail(err, BSA_E_USAGE, "no option '-%c'; see burstscope %s --help", letter, command);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	nearest = bsv_nearest(name, &t->longs[0].name, (size_t)t->n, sizeof(t->longs[0]));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; did you mean '--%s'?", name, nearest);
	return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; see burstscope %s --help", name, command);
}

int bsv_options_read(const struct bsv_command *command, int argc, char **argv, void *own, struct bsv_call *ret,
                     struct bsa_err *err)
{
	struct table t = { .shorts = ":" };
	int c, r;

	assert(command->options_size <= BSV_OPTIONS_MAX);
	memset(own, 0, command->options_size);
	*ret = (struct bsv_call){ .options = own };
	add(&t, command->options, own);
	add(&t, common, &ret->common);
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) >= 0) {
		int i;

		if (c == '?' || c == ':')
			return refused(&t, command->name, argv[optind - 1], optopt, err);
		i = found(&t, c);
		r = set(t.of[i], t.base[i], optarg, err);
		if (r < 0)
			return r;
	}
	ret->operands = (const char *const *)argv + optind;
	ret->n_operands = (size_t)(argc - optind);
	if (ret->common.help)
		return 0;
	if (ret->n_operands < command->min)
		return bsa_fail(err, BSA_E_USAGE, "it takes %s; see burstscope %s --help", command->operands,
		                command->name);
	if (ret->n_operands > command->max)
		return bsa_fail(err, BSA_E_USAGE, "one too many: '%s'; see burstscope %s --help",
		                ret->operands[command->max], command->name);
	return 0;
}

static void help_row(const struct bsv_option *o)
{
	char left[48] = "";

	if (o->letter)
		snprintf(left, sizeof(left), "-%c, ", o->letter);
	snprintf(left + strlen(left), sizeof(left) - strlen(left), "--%s%s%s", o->name, o->argument ? " " : "",
	         o->argument ? o->argument : "");
	printf("  %-28s %s\n", left, o->says);
}

void bsv_options_help(const struct bsv_command *command)
{
	printf("burstscope %s -- %s\n\n%s\nusage: burstscope %s [OPTION...] %s\n\n", command->name, command->says,
	       command->examples, command->name, command->operands);
	for (const struct bsv_option *o = command->options; o && o->name; o++)
		help_row(o);
	for (const struct bsv_option *o = common; o->name; o++)
		help_row(o);
	if (command->more)
		printf("\n%s", command->more);
}

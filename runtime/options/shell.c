/* shell.c -- prints what bash and zsh offer behind each word of the command line. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

enum offer { NOTHING, WORDS = 1, FILES = 2, DIRECTORIES = 4 };

static bool is_among(const char *word, size_t length, const char *const names[])
{
	for (; *names; names++)
		if (strlen(*names) == length && strncmp(word, *names, length) == 0)
			return true;
	return false;
}

/* The kinds of values that an option can have, by the words of its argument. */
static unsigned offers_of(const struct option_row *row)
{
	static const char *const files[] = { "FILE", "PATH", NULL }, *const directories[] = { "DIR", NULL };
	unsigned offers = row->offers ? WORDS : NOTHING;
	char value[OPTIONS_VALUE_ROOM];

	for (const char *word = row->offers ? "" : options_value(row, value); *word;) {
		size_t n = strcspn(word, "|");

		if (*word >= 'a' && *word <= 'z')
			offers |= WORDS;
		else if (is_among(word, n, files))
			offers |= FILES;
		else if (is_among(word, n, directories))
			offers |= DIRECTORIES;
		word += n + (word[n] == '|');
	}
	return offers;
}

/* Print the words that can be given as they are, separated by spaces. */
static void words_print(const struct option_row *row)
{
	char value[OPTIONS_VALUE_ROOM];
	const char *space = "";

	if (row->offers) {
		fputs(row->offers, stdout);
		return;
	}
	for (const char *word = options_value(row, value); *word;) {
		size_t n = strcspn(word, "|");

		if (*word >= 'a' && *word <= 'z') {
			printf("%s%.*s", space, (int)n, word);
			space = " ";
		}
		word += n + (word[n] == '|');
	}
}

/* The name as a shell function's: nnburst_load. */
static void function_print(const struct program *p)
{
	putchar('_');
	for (const char *c = p->name; *c; c++)
		putchar(*c == '-' ? '_' : *c);
}

static bool has_operands(const struct program *p)
{
	return p->operand_words || p->operand_list || p->operand_files;
}

/* ---- bash ---- */

void options_bash(const struct program *p)
{
	const struct option_row *row;

	printf("# bash completion for %s, made from its table of options\n", p->manual);
	if (p->operand_files)
		printf("shopt -s extglob\n");
	function_print(p);
	printf("()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n\n\tCOMPREPLY=()\n"
	       "\t[[ $cur != = && $prev != = ]] || return # bash takes = for a word of its own\n\tcase $prev in\n");
	for (size_t i = 0; (row = options_row(p, i)); i++)
		if (row->kind != OPTION_SWITCH && !row->bare) {
			unsigned offers = offers_of(row);

			printf("\t--%s)\n", row->name);
			if (row->offers)
				printf("\t\tcompopt -o nospace\n");
			if (offers & WORDS) {
				printf("\t\tmapfile -t COMPREPLY < <(compgen -W '");
				words_print(row);
				printf("' -- \"$cur\")\n");
			}
			if (offers & (FILES | DIRECTORIES))
				printf("\t\tcompopt -o filenames\n"
				       "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -%c -- \"$cur\")\n",
				       offers & FILES ? 'f' : 'd');
			printf("\t\t;;\n");
		}
	printf("\t*)\n");
	if (has_operands(p)) {
		printf("\t\tif [[ $cur != -* ]]; then\n");
		if (p->operand_files)
			printf("\t\t\tcompopt -o filenames\n");
		printf("\t\t\tmapfile -t COMPREPLY < <(\n");
		if (p->operand_words)
			printf("\t\t\t\tcompgen -W '%s' -- \"$cur\"\n", p->operand_words);
		if (p->operand_list)
			printf("\t\t\t\tcompgen -W \"$(\"${COMP_WORDS[0]}\" --%s 2>/dev/null | cut -d ' ' -f 1)\" -- "
			       "\"$cur\"\n",
			       p->operand_list);
		if (p->operand_files)
			printf("\t\t\t\tcompgen -f -X '!*.@(%s)' -- \"$cur\"\n\t\t\t\tcompgen -d -- \"$cur\"\n",
			       p->operand_files);
		printf("\t\t\t)\n");
		printf("\t\t\treturn\n\t\tfi\n");
	}
	printf("\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0; (row = options_row(p, i)); i++)
		printf("%s--%s", i ? " " : "", row->name);
	printf("' -- \"$cur\")\n\t\t;;\n\tesac\n}\ncomplete -F ");
	function_print(p);
	printf(" %s\n", p->name);
}

/* ---- zsh ---- */

/* Print @text inside of '...[...]'. */
static void zsh_text(const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
}

void options_zsh(const struct program *p)
{
	const struct option_row *row;

	printf("#compdef %s\n# zsh completion for %s, made from its table of options\n", p->name, p->manual);
	if (has_operands(p)) {
		function_print(p);
		putchar('_');
		printf("operands()\n{\n");
		if (p->operand_words)
			printf("\tcompadd %s\n", p->operand_words);
		if (p->operand_list)
			printf("\tcompadd ${${(f)\"$($words[1] --%s 2>/dev/null)\"}%%%% *}\n", p->operand_list);
		if (p->operand_files)
			printf("\t_files -g '*.(%s)'\n", p->operand_files);
		printf("}\n\n");
	}
	printf("_arguments");
	for (size_t i = 0; (row = options_row(p, i)); i++) {
		bool ends = row >= options_own && row < options_own + OPTIONS_OWN; /* no other option goes with it */

		printf(" \\\n\t'%s%s--%s%s[", ends ? "(- *)" : "", row->repeats ? "*" : "", row->name,
		       row->bare ? "=-" : "");
		zsh_text(row->text);
		putchar(']');
		if (row->kind != OPTION_SWITCH) {
			unsigned offers = offers_of(row);
			char value[OPTIONS_VALUE_ROOM];

			printf("%s:", row->bare ? ":" : "");
			zsh_text(options_value(row, value));
			printf(offers ? ":{" : ": ");
			if (offers & WORDS) {
				printf("compadd -- ");
				words_print(row);
				printf("; ");
			}
			if (offers & FILES)
				printf("_files; ");
			if (offers & DIRECTORIES)
				printf("_directories; ");
			if (offers)
				putchar('}');
		}
		putchar('\'');
	}
	if (has_operands(p)) {
		printf(" \\\n\t'*:operand:");
		function_print(p);
		printf("_operands'");
	}
	putchar('\n');
}

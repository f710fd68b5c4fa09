/* describe_shell.c -- completions for bash and zsh: commands, options, their arguments, and operands. */
#include <string.h>

#include "options/describe.h"
#include "options/options.h"

/* Does the option take a list of words, as its usage shows: "app,model,path"? */
static bool is_list(const struct bsv_option *o)
{
	return o->kind == BSV_TEXT && o->argument && *o->argument >= 'a' && *o->argument <= 'z' &&
	       strchr(o->argument, ',');
}

/* Print the words of @list, separated by spaces. */
static void print_spaced(FILE *to, const char *list)
{
	for (; *list; list++)
		fputc(*list == ',' || *list == '|' ? ' ' : *list, to);
}

static void print_choices(FILE *to, const struct bsv_option *o)
{
	for (size_t i = 0; o->choices[i]; i++)
		fprintf(to, "%s%s", i ? " " : "", o->choices[i]);
}

static void print_commands(FILE *to)
{
	for (const struct bsv_command *const *c = bsv_commands; *c; c++)
		fprintf(to, "%s ", (*c)->name);
}

/* ---- bash ---- */

struct bash {
	FILE *to;
	const struct bsv_command *command;
};

/* Print how to complete the argument of @o. */
static void bash_argument(void *ctx, const struct bsv_option *o)
{
	static const char *const actions[] = {
		[BSV_FILE] = "_burstscope_files \"$cur\"; ",
		[BSV_DIRECTORY] = "_burstscope_directories \"$cur\"; ",
		[BSV_EXECUTION] = "_burstscope_executions \"$cur\"; ",
		[BSV_RELATION] = "_burstscope_relations \"$cur\"; ",
		[BSV_PROGRAM] = NULL,
	};
	const struct bash *b = ctx;
	const char *action = NULL;

	if (o->kind == BSV_SWITCH)
		return;
	fprintf(b->to, "\t%s/--%s", b->command->name, o->name);
	if (o->letter)
		fprintf(b->to, " | %s/-%c", b->command->name, o->letter);
	fputs(") ", b->to);
	if (o->kind == BSV_CHOICE) {
		fputs("_burstscope_words \"$cur\" '", b->to);
		print_choices(b->to, o);
		fputs("'; ", b->to);
	} else if (is_list(o)) {
		fputs("_burstscope_list \"$cur\" '", b->to);
		print_spaced(b->to, o->argument);
		fputs("'; ", b->to);
	} else if (o->kind == BSV_TEXT) {
		action = actions[bsv_word_of(o->argument)];
	}
	fprintf(b->to, "%sreturn ;;\n", action ? action : "");
}

static void bash_name(void *ctx, const struct bsv_option *o)
{
	const struct bash *b = ctx;

	fprintf(b->to, "--%s ", o->name);
}

static const char bash_begin[] =
	"# bash completion for burstscope(1), made from its tables of commands and options\n"
	"_burstscope_words() { mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$2\" -- \"$1\"); }\n"
	"_burstscope_files() { compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "
	"-f -- \"$1\"); }\n"
	"_burstscope_directories() { compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
	"<(compgen -d -- \"$1\"); }\n"
	"_burstscope_list()\n"
	"{\n"
	"\tlocal before=\n"
	"\t[[ $1 == *,* ]] && before=${1%,*},\n"
	"\tcompopt -o nospace 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$2\" -- \"${1##*,}\")\n"
	"}\n"
	"_burstscope_relations() { _burstscope_words \"$1\" \"$(\"${COMP_WORDS[0]}\" schema 2>/dev/null | cut -d ' ' "
	"-f 1)\"; }\n"
	"_burstscope_queries()\n"
	"{\n"
	"\t_burstscope_words \"$1\" \"$(\"${COMP_WORDS[0]}\" sql -q --list --format csv 2>/dev/null | tail -n +2 | cut "
	"-d , -f 1)\"\n"
	"}\n"
	"\n"
	"# Missed executions only of a database that is on the line: nothing is imported to complete a word.\n"
	"_burstscope_executions()\n"
	"{\n"
	"\tlocal word ids=\n"
	"\tfor word in \"${COMP_WORDS[@]}\"; do\n"
	"\t\t[[ $word == *.db && -f $word ]] || continue\n"
	"\t\tids=$(\"${COMP_WORDS[0]}\" sql -q --format csv \"$word\" 'SELECT execution_id FROM miss_cause WHERE "
	"is_primary\n"
	"\t\t\tORDER BY late_ns DESC LIMIT 20' 2>/dev/null | tail -n +2)\n"
	"\tdone\n"
	"\t_burstscope_words \"$1\" \"worst slowest $ids\"\n"
	"}\n"
	"\n"
	"_burstscope()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options= i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\t_burstscope_words \"$cur\" '";

void bsv_describe_bash(FILE *to)
{
	static const struct {
		enum bsv_word word;
		const char *action;
	} operands[] = {
		{ BSV_DIRECTORY, "_burstscope_directories" }, { BSV_FILE, "_burstscope_files" },
		{ BSV_EXECUTION, "_burstscope_executions" },  { BSV_RELATION, "_burstscope_relations" },
		{ BSV_QUERY, "_burstscope_queries" },
	};
	struct bash b = { .to = to };
	const char *comma = "";

	fputs(bash_begin, to);
	print_commands(to);
	fputs("help --help --version'\n\t\treturn\n\tfi\n", to);
	/* Complete the words after --, where these are a program and its arguments. */
	fputs("\tcase $command in\n\t", to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++)
		if (bsv_command_takes(*c, BSV_PROGRAM)) {
			fprintf(to, "%s%s", comma, (*c)->name);
			comma = " | ";
		}
	fputs(")\n"
	      "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t\t[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
	      "\t\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t\t_command_offset $((i + 1))\n"
	      "\t\t\telif ((i + 1 == COMP_CWORD)); then\n"
	      "\t\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	      "\t\t\telse\n"
	      "\t\t\t\t_burstscope_files \"$cur\"\n"
	      "\t\t\tfi\n"
	      "\t\t\treturn\n"
	      "\t\tdone\n"
	      "\t\t;;\n"
	      "\tesac\n",
	      to);
	fputs("\t[[ $cur == = ]] && cur=\n"
	      "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\tcase $command/$prev in\n",
	      to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
		b.command = *c;
		bsv_options_each(*c, bash_argument, &b);
	}
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n", to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
		fprintf(to, "\t\t%s) options='", (*c)->name);
		bsv_options_each(*c, bash_name, &b);
		fputs("' ;;\n", to);
	}
	fputs("\t\tesac\n\t\t_burstscope_words \"$cur\" \"$options\"\n\t\treturn\n\tfi\n\tcase $command in\n\thelp) "
	      "_burstscope_words \"$cur\" '",
	      to);
	print_commands(to);
	fputs("' ;;\n", to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
		fprintf(to, "\t%s) ", (*c)->name);
		for (size_t i = 0; i < sizeof(operands) / sizeof(*operands); i++)
			if (bsv_command_takes(*c, operands[i].word))
				fprintf(to, "%s \"$cur\"; ", operands[i].action);
		fputs(";;\n", to);
	}
	fputs("\tesac\n}\ncomplete -F _burstscope burstscope\n", to);
}

/* ---- zsh ---- */

/* Print text inside single quotes, where _arguments gives [, ] and : a meaning. */
static void zsh_text(FILE *to, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", to);
		else if (strchr("[]:\\", *s))
			fprintf(to, "\\%c", *s);
		else
			fputc(*s, to);
	}
}

static const char *zsh_action(enum bsv_word word)
{
	static const char *const actions[] = {
		[BSV_ANY] = "",
		[BSV_FILE] = "_files",
		[BSV_DIRECTORY] = "_directories",
		[BSV_EXECUTION] = "_burstscope_executions",
		[BSV_RELATION] = "_burstscope_relations",
		[BSV_QUERY] = "_burstscope_queries",
		[BSV_PROGRAM] = "",
	};

	return actions[word];
}

static void zsh_option(void *ctx, const struct bsv_option *o)
{
	bool takes = o->kind != BSV_SWITCH;
	FILE *to = ctx;

	fputs(" \\\n\t\t\t'", to);
	if (o->letter)
		fprintf(to, "(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, takes ? "+" : "", o->name,
		        takes ? "=" : "");
	else
		fprintf(to, "--%s%s[", o->name, takes ? "=" : "");
	zsh_text(to, o->says);
	fputc(']', to);
	if (takes) {
		fputc(':', to);
		zsh_text(to, o->kind == BSV_CHOICE || is_list(o) ? o->name : o->argument);
		fputc(':', to);
		if (o->kind == BSV_CHOICE) {
			fputc('(', to);
			print_choices(to, o);
			fputc(')', to);
		} else if (is_list(o)) {
			fprintf(to, "_values -s , %s ", o->name);
			print_spaced(to, o->argument);
		} else if (o->kind == BSV_TEXT) {
			fputs(zsh_action(bsv_word_of(o->argument)), to);
		}
	}
	fputc('\'', to);
}

void bsv_describe_zsh(FILE *to)
{
	fputs("#compdef burstscope\n"
	      "# zsh completion for burstscope(1), made from its tables of commands and options\n"
	      "_burstscope_any() { local each; for each; do [[ $each == _* ]] && $each; done }\n"
	      "_burstscope_relations() { compadd -- ${${(f)\"$(_call_program relations $burstscope schema "
	      "2>/dev/null)\"}%% *} }\n"
	      "_burstscope_queries()\n"
	      "{\n"
	      "\tlocal rows=\"$(_call_program queries $burstscope sql -q --list --format csv 2>/dev/null)\"\n"
	      "\tcompadd -- ${${${(f)rows}%%,*}[2,-1]}\n"
	      "}\n"
	      "_burstscope_executions()\n"
	      "{\n"
	      "\tlocal word\n"
	      "\tlocal -a ids\n"
	      "\tfor word in $words; do\n"
	      "\t\t[[ $word == *.db && -f $word ]] || continue\n"
	      "\t\tids=(${(f)\"$($burstscope sql -q --format csv $word 'SELECT execution_id FROM miss_cause WHERE "
	      "is_primary\n"
	      "\t\t\tORDER BY late_ns DESC LIMIT 20' 2>/dev/null)\"})\n"
	      "\tdone\n"
	      "\tcompadd -- worst slowest $ids[2,-1]\n"
	      "}\n"
	      "\n"
	      "local burstscope=$words[1] state line\n"
	      "local -a subcommands=(\n",
	      to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
		fprintf(to, "\t'%s:", (*c)->name);
		zsh_text(to, (*c)->says);
		fputs("'\n", to);
	}
	fputs("\t'help:how a command is used'\n"
	      ")\n"
	      "_arguments -C '(- *)--help[print what the program does]' '(- *)--version[print the version]' \\\n"
	      "\t'1:command:->command' '*::argument:->argument'\n"
	      "case $state in\n"
	      "command) _describe command subcommands ;;\n"
	      "argument)\n"
	      "\tcase $words[1] in\n"
	      "\thelp) _describe command subcommands ;;\n",
	      to);
	for (const struct bsv_command *const *c = bsv_commands; *c; c++) {
		fprintf(to, "\t%s)\n", (*c)->name);
		if (bsv_command_takes(*c, BSV_PROGRAM))
			fputs("\t\tinteger at=${words[(i)--]}\n"
			      "\t\tif ((at < CURRENT)); then\n"
			      "\t\t\tshift at words\n"
			      "\t\t\t((CURRENT -= at))\n"
			      "\t\t\t_normal\n"
			      "\t\t\treturn\n"
			      "\t\tfi\n",
			      to);
		fputs("\t\t_arguments -s -S", to);
		bsv_options_each(*c, zsh_option, to);
		fputs(" \\\n\t\t\t'*:operand:_burstscope_any", to);
		for (enum bsv_word word = BSV_FILE; word < BSV_PROGRAM; word++)
			if (bsv_command_takes(*c, word))
				fprintf(to, " %s", zsh_action(word));
		fputs("'\n\t\t;;\n", to);
	}
	fputs("\tesac\n\t;;\nesac\n", to);
}

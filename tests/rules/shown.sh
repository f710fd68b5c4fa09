#!/usr/bin/env bash
# shown.sh BURSTSCOPE TREE -- each command line of burstscope that the documents, the pages and --help show is one that it takes: the command
# is there, and so are its options, and they take what they are given. It is tried with --help, and so does nothing. All help fits 80 columns.
. "$(dirname "$0")/rule.sh"

program=$(realpath "$1") tree=$(realpath "$2")
scratch
cd "$tmp"
shown=0

curl() { :; } # nothing is asked of a network

# What the shell runs in its place.
burstscope()
{
	[[ $1 == help ]] || "$program" "$1" --help "${@:2}" >/dev/null 2>>"$tmp/said"
}

# try WHERE TEXT: the shell runs the text, and neither it nor a command of burstscope complains.
try()
{
	: >"$tmp/said"
	(
		set -f
		# shellcheck disable=SC2123 # nothing else is run
		PATH=/usr/bin:/bin
		eval "$2"
	) >/dev/null 2>"$tmp/shell" && [[ ! -s $tmp/said && ! -s $tmp/shell ]] ||
		broken "$1 shows what burstscope does not take: $2: $(head -qn 1 "$tmp/said" "$tmp/shell")"
}

# Of a file: after a prompt, or indented. A string that goes on on other lines is taken to its end.
of_file()
{
	local line text=''

	while IFS= read -r line; do
		if [[ $text ]]; then
			text+=$'\n'$line
		elif [[ $line =~ ^(\$|\ {3})\ (burstscope\ [a-z].*) ]]; then
			text=${BASH_REMATCH[2]}
		else
			continue
		fi
		[[ ! $(bash -n <<<"$text" 2>&1) ]] || continue
		shown=$((shown + 1))
		try "${1#"$tree"/}" "$text"
		text=
	done <"$1"
	[[ ! $text ]] || broken "${1#"$tree"/} shows a line that does not end: $text"
}

# Of --help: the block above the usage, copied as it is. In a narrow terminal, each example is broken into several lines.
of_help()
{
	local columns block

	for columns in 80 40; do
		block=$(COLUMNS=$columns "$program" "$1" --help | sed '1,/^$/d; /^usage/,$d')
		shown=$((shown + $(grep -c '^  burstscope ' <<<"$block")))
		try "burstscope $1 --help in $columns columns" "$block"
	done
}

# fits ARGUMENT...: what these print has no line that a usual terminal breaks.
fits()
{
	local line

	while IFS= read -r line; do
		broken "burstscope $* prints a line of ${#line} columns: $line"
	done < <(COLUMNS=80 "$program" "$@" | awk 'length > 80')
}

shopt -s nullglob
for page in "$tree"/README.md "$tree"/docs/*.md "$tree"/docs/man/*.[0-9]*; do
	of_file "$page"
done
fits --help
while read -r command; do
	of_help "$command"
	fits "$command" --help
done < <("$program" --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p')
judged "$shown command lines"

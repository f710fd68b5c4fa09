#!/usr/bin/env bash
# shown.sh BURSTSCOPE TREE -- each command line of burstscope that the documents, the pages and --help show is one that it takes: the command
# is there, and so are its options, and they take what they are given. It is tried with --help, and so does nothing. All help fits 80 columns.
. "$(dirname "$0")/rule.sh"

program=$(realpath "$1") tree=$(realpath "$2")
scratch
cd "$tmp"
shown=0

# What the shell runs in its place.
burstscope()
{
	[[ $1 == help ]] || "$program" "$1" --help "${@:2}" >/dev/null 2>"$tmp/said"
}

# try WHERE TEXT
try()
{
	shown=$((shown + 1))
	: >"$tmp/said"
	(
		set -f
		# shellcheck disable=SC2123 # nothing else is run
		PATH=/usr/bin:/bin
		eval "$2"
	) >/dev/null 2>"$tmp/shell" || broken "$1 shows what burstscope does not take: $2: $(head -qn 1 "$tmp/said" "$tmp/shell")"
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
		try "${1#"$tree"/}" "$text"
		text=
	done <"$1"
	[[ ! $text ]] || broken "${1#"$tree"/} shows a line that does not end: $text"
}

# Of --help: up to what it does, which is behind two spaces or more.
of_help()
{
	local line

	while IFS= read -r line; do
		line=${line#  }
		try "burstscope $1 --help" "${line%%  *}"
	done < <("$program" "$1" --help | sed -n ':a; /\\$/ { N; s/\\\n *//; ba }; /^usage/q; /^  burstscope /p')
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

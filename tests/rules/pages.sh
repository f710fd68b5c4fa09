#!/usr/bin/env bash
# pages.sh BURSTSCOPE TREE -- each command has a page, with all that its tables say, and each page of a command has a command; what pages
# refer to is there; and groff has nothing to say against them.
. "$(dirname "$0")/rule.sh"

program=$1 man=$2/docs/man
mapfile -t commands < <("$program" --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p')
scratch

for command in "${commands[@]}"; do
	page=$man/burstscope-$command.1.in
	if [[ ! -e $page ]]; then
		broken "no page of burstscope $command: docs/man/burstscope-$command.1.in"
		continue
	fi
	for mark in head options examples; do
		grep -qx "@$mark $command@" "$page" || broken "$(basename "$page") has no @$mark $command@"
	done
	grep -qxE "@status $command@|\.Sh EXIT STATUS" "$page" || broken "$(basename "$page") does not say the exit status"
done

for page in "$man"/burstscope*.1.in; do
	name=$(basename "$page" .1.in)
	[[ $name == burstscope || " ${commands[*]} " == *" ${name#burstscope-} "* ]] || broken "$name is a page of no command"
	if ! "$program" help --as man "$page" >"$tmp/$name.1" 2>"$tmp/said"; then
		broken "$(<"$tmp/said")"
		continue
	fi
	while read -r other section _; do
		[[ -e $man/$other.$section || -e $man/$other.$section.in ]] ||
			[[ $other =~ ^(babeltrace2|lttng|lttng-sessiond|sqlite3|systemd)$ ]] ||
			broken "$name points to $other($section), which is not there"
	done < <(sed -nE 's/^\.(It )?Xr ([^ ]+) ([0-9]).*/\2 \3/p' "$tmp/$name.1")
	command -v groff >/dev/null || continue
	groff -mdoc -Tascii -ww -rLL=100n "$tmp/$name.1" >/dev/null 2>"$tmp/said" || true
	grep -v 'adjust line\|break line' "$tmp/said" >"$tmp/real" && broken "$name: $(head -n 3 "$tmp/real")"
done
((${#commands[@]} > 0)) || broken "$program --help names no commands"
judged "${#commands[@]} commands have their pages"

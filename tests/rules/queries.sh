#!/usr/bin/env bash
# queries.sh TREE [FOLDER...] -- the viewer's SQL stands in viewer-cli/reports: no string of its C is SQL, whole or in part. FOLDER: below viewer-cli; by
# default all of it. Comments are not judged, nor what users type: SQL behind "burstscope sql", and the completions, which are programs of shells.
. "$(dirname "$0")/rule.sh"

tree=$1
shift
cd "$tree/viewer-cli" || exit

# A word in capitals is enough: a statement may be put together of strings, each of which is no statement.
mapfile -t files < <(find "${@:-.}" -name '*.[ch]' -not -path '*options/describe_shell.c' -o -name '*.def' | sed 's,^\./,,' | LC_ALL=C sort)
((${#files[@]})) || broken "no C in $tree/viewer-cli"
while IFS= read -r found; do
	broken "viewer-cli/$found; put the query into viewer-cli/reports"
done < <(((${#files[@]} == 0)) || awk '
	FNR == 1 { comment = 0 }
	{
		rest = $0
		while (length(rest)) {
			if (comment) {
				if (!(at = index(rest, "*/")))
					break
				rest = substr(rest, at + 2)
				comment = 0
			} else if (match(rest, /^"([^"\\]|\\.)*"/)) {
				string = substr(rest, 2, RLENGTH - 2)
				rest = substr(rest, RLENGTH + 1)
				words = string
				gsub(/\\.|%[0-9a-z]+/, " ", words) # of "%sFROM", the word is FROM
				if (words ~ /(^|[^A-Za-z_])(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|UNION|VALUES|GROUP BY|ORDER BY|PARTITION BY|LIMIT)([^A-Za-z_]|$)/ && words !~ /burstscope sql /)
					print FILENAME ":" FNR ": SQL in C: " string
			} else if (substr(rest, 1, 2) == "/*") {
				comment = 1
				rest = substr(rest, 3)
			} else if (substr(rest, 1, 2) == "//") {
				break
			} else if (match(rest, /^\047([^\047\\]|\\.)*\047/)) {
				rest = substr(rest, RLENGTH + 1)
			} else {
				rest = substr(rest, 2)
			}
		}
	}' "${files[@]}")

judged "${#files[@]} files have no SQL"

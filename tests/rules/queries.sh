#!/usr/bin/env bash
# queries.sh TREE [FOLDER...] -- the viewer's SQL stands in viewer-cli/reports: no string of its C is SQL, whole or in part. FOLDER: below viewer-cli; by
# default all of it. Comments are not judged, nor what users type: SQL behind "burstscope sql" and "--where", and the completions, which are programs of
# shells.
#
# A string is SQL if it has
#   a word of statements or of expressions, in capitals
#   a call of one of SQLite's functions
#   a column of a relation, as a.name
#   a comparison with a value that is filled in, or a shift of a column
#   several columns whose names have a unit
#
# What C may have is an identifier alone: the name of a column that C reads, or that fills a placeholder (@column@, @by@), and the letter of a relation. It is the
# same name in the answer, in JSON and in the structs of C, and says nothing of how a figure is made.
. "$(dirname "$0")/rule.sh"

tree=$1
shift
cd "$tree/viewer-cli" || exit

mapfile -t files < <(find "${@:-.}" -name '*.[ch]' -not -path '*options/describe_shell.c' -o -name '*.def' | sed 's,^\./,,' | LC_ALL=C sort)
((${#files[@]})) || broken "no C in $tree/viewer-cli"
while IFS= read -r found; do
	broken "viewer-cli/$found; put the query into viewer-cli/reports"
done < <(((${#files[@]} == 0)) || awk '
	function has_word(text, words) { return text ~ "(^|[^A-Za-z_])(" words ")([^A-Za-z_]|$)" }

	function is_sql(text,    plain)
	{
		plain = text
		gsub(/%[-+.*0-9]*(l|ll|z)?[a-z]/, " ", plain) # of "%sFROM", the word is FROM
		gsub(/[a-z]\.(db|json|sql|trace|html)/, " ", plain) # names of files
		return has_word(plain, "SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|UNION|VALUES|GROUP BY|ORDER BY|PARTITION BY|LIMIT") ||
			has_word(plain, "AND|OR|IN \\(|IS NULL|IS NOT|IS|BETWEEN|EXISTS|WHEN|THEN|ELSE|DESC|ASC|AS|LIKE|WITH") ||
			plain ~ /(^|[^a-z_])(coalesce|ifnull|nullif|iif|printf|count|max|min|total|abs)\(/ ||
			plain ~ /(^|[^A-Za-z_.$\/])[a-z]\.[a-z][a-z_]/ ||
			text ~ /([a-z_]|%s) (=|<|<=|>=|<>) (\047|%)/ || plain ~ /[a-z_] (>>|<<) / ||
			plain ~ /[a-z]_(id|ns|at|us|bytes|percent)(,| [-+*\/]) *[a-z]/ || plain ~ /(, | [-+*\/] )[a-z0-9_]+_(id|ns|at|us|bytes|percent)([^a-z_ ]|$)/
	}

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
				gsub(/\\./, " ", words)
				typed = words ~ /burstscope sql |--where|in SQL:/
				if (!typed && is_sql(words))
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

#!/usr/bin/env bash
# words.sh TREE [PLACE...] -- comments and pages are in plain English: they name the actor, and comments are whole and have the field's
# verb, in lines of at most 120 columns. Judges the rooms, or PLACEs (folders, files) alone. NNB_TELLING: comments per mille that may use
# tell, told, say or said; 10.
. "$(dirname "$0")/rule.sh"

tree=$1
shift
(($#)) || set -- tracepoints runtime analyzer viewer-cli

# at_most PER_MILLE KIND WHY: of all comments. Each one of that kind is shown if there are more.
at_most()
{
	local line many

	many=$(awk -v kind="$2" '$1 == "comment" { n++; if ($3 ~ kind) k++ } END { print n ? int(1000 * k / n + .5) : 0 }' <<<"$prose")
	report+=" $3: $((many / 10)).$((many % 10)) %;"
	((many > $1)) || return 0
	while read -r _ place _ line; do
		broken "$place: $3: $line"
	done < <(awk -v kind="$2" '$1 == "comment" && $3 ~ kind' <<<"$prose")
}

prose=$(prose_of "$tree" "$@")
report=
at_most 5 nobody 'uses nobody, somebody, everybody, whoever or whom'
at_most 30 opening 'opens with a pronoun, or goes on with a sentence that is not there'
at_most "${NNB_TELLING:-10}" telling 'uses tell, told, say or said'
while read -r _ place columns; do
	broken "$place: a comment is $columns columns wide; 120 is the limit"
done < <(grep '^wide ' <<<"$prose")

# The prose of pages: neither blocks of output and code (fenced, indented by 4, or a literal display of mdoc) nor `code` between words.
pages=$(cd "$tree" && find "$@" -name '*.md' -o -path '*/man/*' -type f | LC_ALL=C sort)
while read -r line; do
	broken "$line"
done < <(cd "$tree" && xargs -r awk '
	FNR == 1 { block = 0 }
	/^```/ || /^\.(Bd -literal|Ed)/ { block = /^\.Ed/ ? 0 : !block; next }
	block || /^(    |\t)/ { next }
	{ text = tolower($0); gsub(/`[^`]*`/, "", text) }
	(" " text " ") ~ /[^a-z](nobody|somebody|whoever|whom|anybody|everybody)[^a-z]/ {
		print FILENAME ":" FNR ": uses nobody, somebody, everybody, whoever or whom: " $0
	}' <<<"$pages")
judged "comments:$report $(grep -c . <<<"$pages" || true) pages"

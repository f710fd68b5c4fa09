#!/usr/bin/env bash
# words.sh TREE [FOLDER...] -- comments are in plain English: they name the actor, and are whole. Judges the rooms, or FOLDERs alone.
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
judged "comments:$report"

#!/usr/bin/env bash
# docs.sh TREE -- the C that the README and the pages below docs show is a file of docs/examples, whole; together they point to every one
# of them; what each of them points to is there; docs/performance.md shows no figures without the command and the day they are of;
# docs/soak.md says what each part of ./run soak does; and the reasons of undecided misses are the same in docs/figures.md, in the words of
# burstscope misses, and where the analyzer and its query have them.
. "$(dirname "$0")/rule.sh"

tree=$1
shopt -s nullglob
pages=("$tree/README.md" "$tree"/docs/*.md)
shown=0

# The lines between ```c and ```, one block after the other.
blocks() { awk '/^```c$/ { on = 1; next } /^```$/ { if (on) printf "%c", 0; on = 0 } on' "$1"; }

# as_it_is PAGE
as_it_is()
{
	local block example found

	while IFS= read -r -d '' block; do
		found=
		for example in "$tree"/docs/examples/*.c; do
			[[ $block == "$(<"$example")"$'\n' ]] && found=yes
		done
		if [[ $found ]]; then
			shown=$((shown + 1))
		else
			broken "${1#"$tree"/} shows C that is no example as it is: $(head -n 1 <<<"$block")"
		fi
	done < <(blocks "$1")
}

# points PAGE: FILE and PLACE of each link that is within the tree.
points() { { grep -oE '\]\([^):]*\)' "$1" || true; } | tr -d '()]' | sed -E 's/^([^#]*)#?/\1|/'; }

# The headings of a page, as links to them are written.
places() { sed -nE 's/^#+ //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }

for page in "${pages[@]}"; do
	as_it_is "$page"
	while IFS='|' read -r target place; do
		file=$(dirname "$page")/$target
		[[ $target ]] || file=$page
		if [[ ! -e $file ]]; then
			broken "${page#"$tree"/} points to $target, which is not there"
		elif [[ $place && $file == *.md ]] && ! grep -qxF -- "$place" < <(places "$file"); then
			broken "${page#"$tree"/} points to #$place, which is not there"
		fi
	done < <(points "$page")
done

for example in "$tree"/docs/examples/*.c; do
	grep -qE "\]\((docs/)?examples/$(basename "$example")\)" "${pages[@]}" ||
		broken "neither README.md nor a page points to $(basename "$example")"
done

# Each block of figures: the line before it has a date and a command, or the block begins with the command.
figures=0
while read -r line verdict; do
	figures=$((figures + 1))
	[[ $verdict == well ]] || broken "docs/performance.md:$line: figures without the command and the day they are of"
done < <([[ ! -f $tree/docs/performance.md ]] || awk '
	/^```/ && !on { on = 1; at = NR; dated = before ~ /20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]/; told = before ~ /`[^`]+`/; next }
	/^```/ { on = 0; before = ""; print at, dated && told ? "well" : "ill"; next }
	on && NR == at + 1 && /^\$ / { told = 1 }
	!on && NF { before = $0 }' "$tree/docs/performance.md")

# Each part of ./run soak has a row of its own in the table that begins with "| part | what the part does", or a row for NAME-*.
mapfile -t rows < <([[ ! -f $tree/docs/soak.md ]] || awk -F ' *[|] *' '/^[|] part [|] what/ { on = 1 } !/^[|]/ { on = 0 } on { n = split($2, names, ", "); for (i = 1; i <= n; i++) print names[i] }' \
	"$tree/docs/soak.md")
parts=0
while read -r part; do
	parts=$((parts + 1))
	found=
	for row in "${rows[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $part != $row ]] || found=yes
	done
	[[ $found ]] || broken "docs/soak.md does not say what the part $part of ./run soak does"
done < <([[ ! -f $tree/run ]] || awk '/^soak_parts\(\)/ { on = 1 } /^}/ { on = 0 } on && $4 ~ /^(alone|beside)$/ { print $1 }' "$tree/run")

# The reasons of undecided misses: the labels of miss_replay and those that the query adds, each with its words, and with its row in the table
# that begins with "| reason | the miss".
reasons=0
# alike PLACE FOUND: it has all reasons, and no other ones.
alike()
{
	local reason

	while read -r reason; do broken "$1 has no reason $reason of undecided misses"; done < <(comm -23 <(echo "$there") <(echo "$2"))
	while read -r reason; do broken "$1 has $reason, which is no reason of undecided misses"; done < <(comm -13 <(echo "$there") <(echo "$2"))
}
words=$tree/viewer-cli/audit/missed.c
if [[ -f $words ]]; then
	there=$( (grep -ohE "REL_NAME\(replay, [a-z]+|'[a-z]+', r\.outcome|SELECT '[a-z]+'" "$tree/analyzer/store/labels.def" "$tree/viewer-cli/reports/misses_undecided.sql" |
		sed -E "s/.*\(replay, //; s/^[^']*'([a-z]+)'.*/\1/") | sort)
	reasons=$(wc -w <<<"$there")
	alike missed.c "$(awk '/undecided\[\] = \{/ { on = 1 } /^};/ { on = 0 } on' "$words" | sed -nE 's/^\t\{ "([a-z]+)".*/\1/p' | sort)"
	alike docs/figures.md "$(awk '/^[|] reason [|] the miss/ { on = 1 } !/^[|]/ { on = 0 } on' "$tree/docs/figures.md" | sed -nE 's/^[|] `([a-z]+)` [|].*/\1/p' | sort)"
fi

judged "$shown examples are shown as they are, what is pointed to exists, $figures blocks of figures say what they are of, $parts parts of the soak what they do, and $reasons reasons of undecided misses have their words and rows"

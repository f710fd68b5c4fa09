#!/usr/bin/env bash
# test_mutants.sh TREE MUTANTS -- the program of mutants.c plants the right changes, no rename changes its answers, and
# mutate.sh reports tests that catch too little.
. "$(dirname "$0")/../rules/rule.sh"

tree=${1:?TREE} mutants=${2:?MUTANTS}
here=$tree/tests/mutate
wants "${CC:=cc}"
scratch

# same WHAT FILE FILE
same()
{
	diff "$2" "$3" >"$tmp/difference" || broken "$1 differ: $(head -3 "$tmp/difference")"
}

# ---- operators ----

"$mutants" "$here/sample.c" >"$tmp/list"
cut -f2- "$tmp/list" >"$tmp/found"
same 'the mutants of sample.c and sample.expected' "$tmp/found" "$here/sample.expected"

# A key changes exactly what its line lists.
while IFS=$'\t' read -r key place operator text; do
	"$mutants" "$here/sample.c" "$key" >"$tmp/planted.c"
	line=${place%%:*}
	changed=$(diff "$here/sample.c" "$tmp/planted.c" | grep -c '^<') || true
	planted=$(sed -n "${line}p" "$tmp/planted.c")
	[[ $changed == 1 && $planted == *"${text#* => }"* ]] || broken "$place $operator: $text gives $planted"
done <"$tmp/list"

# ---- edits ----

key=$(awk -F '\t' '$2 == "23:3" && $3 ~ /^statement/ { print $1 }' "$tmp/list")
value=$("$mutants" --places "$here/sample.c" | awk -F '\t' '$2 == "23:10" && $3 ~ /^value/ { print $1 }' | tail -1)
"$mutants" "$here/sample.c" "$key=@@ + @$value@" >"$tmp/planted.c"
grep -qF 'sum += values[i] * weights[i % 3] + values[i];' "$tmp/planted.c" || broken 'an edit ignores its template'
! "$mutants" "$here/sample.c" "$key" "$value=0" >/dev/null 2>&1 || broken 'two edits of the same place pass'
! "$mutants" "$here/sample.c" 0123456789 >/dev/null 2>&1 || broken 'an edit of no place passes'
! "$mutants" "$here/sample.c" "$value" >/dev/null 2>&1 || broken 'an edit without a replacement passes'

# ---- renames and moves ----

# renamed FILE: print the file with another spelling and length of every name, except the words of C.
renamed()
{
	local words='assert|bool|break|case|char|const|continue|default|do|double|else|enum|extern|false|float|for|goto|if'
	words+='|inline|int|long|NULL|register|restrict|return|short|signed|sizeof|static|static_assert|struct|switch|true'
	words+='|typedef|union|unsigned|void|volatile|while'

	sed -E "/^#/! {
		s/\<([A-Za-z_][A-Za-z_0-9]*)\>/plain_\1/g
		s/\<plain_($words)\>/\1/g
	}" "$1"
}

# names FILE: print one line for each name of it, #define plain_x x.
names()
{
	grep -oE '\<[A-Za-z_][A-Za-z_0-9]*\>' "$1" | sort -u | sed 's/.*/#define plain_& &/'
}

# keys [--places] FILE: print what no rename may change.
keys()
{
	"$mutants" "$@" | cut -f1,3
}

files=0
for file in "$here/sample.c" "$tree"/runtime/sched/*.c "$tree"/analyzer/fold/*.c; do
	renamed "$file" >"$tmp/renamed.c"
	keys --places "$file" >"$tmp/before"
	keys --places "$tmp/renamed.c" >"$tmp/after"
	same "the keys of $file before and after a rename" "$tmp/before" "$tmp/after"
	files=$((files + 1))
done

# A new function before the others, and another layout, change no key.
sed '/^#/!s/^\t*//; /^#/!s/ && /\n\&\&\n/; s/^bool range_holds/int first(void) { return 1; }\n&/' "$here/sample.c" >"$tmp/moved.c"
keys "$here/sample.c" | cut -f1 | sort >"$tmp/before"
keys "$tmp/moved.c" | cut -f1 | sort >"$tmp/after"
lost=$(comm -23 "$tmp/before" "$tmp/after" | wc -l)
((lost == 0)) || broken "a move and another layout lose $lost keys"

# A change of a statement changes its keys; those of other functions stay.
sed 's/sum += values/sum += 2 * values/' "$here/sample.c" >"$tmp/changed.c"
keys "$tmp/changed.c" | cut -f1 | sort >"$tmp/after"
lost=$(comm -23 "$tmp/before" "$tmp/after" | wc -l)
((lost > 8 && lost < 40)) || broken "a change of one statement loses $lost keys"

# ---- mutate.sh ----

edit() # edit PLACE OPERATOR: the key of that mutant of the sample
{
	awk -F '\t' -v place="$1" -v operator="$2" '$2 == place && $3 == operator { print $1 }' "$tmp/list"
}

cat >"$tmp/small.sh" <<'END'
mutated=(sample.c)
tests=(sample_test.c)
flags=("-I$tree")
bar=40
enough=5
END
printf '%s\t%s\n' 'A range excludes its least value' "$(edit 12:15 'relation >')" \
	'? The clamp does not look at its limit' "$(edit 39:9 'condition false')" >"$tmp/small.defects"

# judges WORDS OPTION...: mutate.sh must print this about the small target.
judges()
{
	local words=$1 said
	shift

	said=$("$here/mutate.sh" "$@" "$tmp/small" "${sources:-$here}" "$mutants" 2>&1) || true
	[[ $said == *"$words"* ]] || broken "mutate.sh does not say '$words': $said"
	printf '%s\n' "$said" >"$tmp/said"
}

# The verdicts of the sample that mutate.sh judged last.
verdicts()
{
	sed -nE 's/^([a-z]+) .*\(([0-9a-f.]+)\).*/\2 \1/p' "$tmp/said"
}

judges 'small: 2 defects have their place'
judges 'small: 1 of 2 listed defects caught; of a sample of 6 changes' --sample 6
verdicts >"$tmp/before"
sed -i 's/bar=40/bar=95/' "$tmp/small.sh"
judges 'and the bar is 95%' --sample 6
sed -i 's/bar=95/bar=40/; s/^? //' "$tmp/small.sh" "$tmp/small.defects"
judges 'no test fails: The clamp does not look at its limit' --sample 0
printf '%s\t%s\n' 'A range excludes its least value' 0123456789 >"$tmp/small.defects"
judges "no place for 'A range excludes its least value' (0123456789)"
printf '? %s\t%s\n' 'A range excludes its least value' "$(edit 12:15 'relation >')" >"$tmp/small.defects"
judges 'caught: ? A range excludes its least value: remove the question mark' --sample 0

# The same verdicts after a rename, which the headers and the tests do not follow: macros give them the old names.
mkdir "$tmp/tree"
cp "$here"/sample.h "$here"/sample_test.c "$tmp/tree"
{ names "$here/sample.c"; renamed "$here/sample.c"; } >"$tmp/tree/sample.c"
printf '%s\t%s\n' 'A range excludes its least value' "$(edit 12:15 'relation >')" >"$tmp/small.defects"
sources=$tmp/tree judges 'small: 1 of 1 listed defects caught' --sample 6
verdicts >"$tmp/after"
same 'the verdicts before and after a rename' "$tmp/before" "$tmp/after"
[[ -s $tmp/before ]] || broken 'mutate.sh gives no verdicts'

judged "$(wc -l <"$tmp/list") mutants of the sample; $files renamed files keep their keys"

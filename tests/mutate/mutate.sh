#!/usr/bin/env bash
# mutate.sh [--all | --sample N] TARGET TREE MUTANTS -- the tests of a target notice defects in its sources.
#
# TARGET.sh names these sources and tests. MUTANTS is the program of mutants.c, which plants the defects.
# Neither depends on names in the sources, so a rename changes nothing here.
#
#   TARGET.defects  The defects that a test must catch: a sentence, a tab, and the edits of one source that make the
#                   sentence true, with tabs between them (mutants.c explains edits). A question mark before a sentence
#                   marks a gap: no test catches this defect yet. Without NNB_MUTANTS or an option, the script only looks
#                   for the places of these defects, which takes a second.
#   a sample        of all small changes of the sources. The score is the share of them that the tests catch; changes that
#                   do not compile do not count. The score must reach the bar in TARGET.sh. The keys decide which
#                   changes belong to the sample, so the sample stays the same until the code changes. --sample and --all
#                   give its size; otherwise the sample ends after NNB_SOAK_SECONDS, or after 100 changes.
#
# A change of the code can remove the place of a defect. Then the script names the defect. `MUTANTS --places FILE` lists all
# places of a file: choose those that make the sentence true again, and put their keys into TARGET.defects.
# TARGET is a name, or a path with a slash to such a pair of files.
. "$(dirname "$0")/driver.sh"

sample=
case ${1-} in
--all) sample=1000000; shift ;;
--sample) sample=${2:?N}; shift 2 ;;
esac
target=${1:?TARGET} tree=${2:?TREE} mutants=${3:?MUTANTS}
[[ $target == */* ]] || target=$(dirname "$0")/$target
wants "${CC:=cc}"
scratch

# TARGET.sh sets these.
mutated=() # sources that defects are planted in
others=()  # sources that the tests need, too
tests=()   # sources with a main(): a test program each; NAME_arguments, an array, has the arguments of the program NAME
flags=()   # for the compiler
link=()    # for the linker
bar=       # the least score of a sample, in percent
enough=50  # changes; the bar does not apply to a smaller sample
# shellcheck source=/dev/null
. "$target.sh"
name=$(basename "$target")

# ---- places ----

for source in "${mutated[@]}"; do
	"$mutants" --places "$tree/$source" | sed "s|^|$source\t|"
done >"$tmp/places"

# Each defect with the first source that has all its places: SOURCE, SENTENCE, EDIT...
grep -v '^#' "$target.defects" | awk -F '\t' -v OFS='\t' '
	NR == FNR { has[$1, $2]; if (!n_sources || sources[n_sources] != $1) sources[++n_sources] = $1; next }
	{
		n = keys($0)
		for (s = 1; s <= n_sources; s++) {
			for (i = 1; i <= n && (sources[s], key[i]) in has; i++)
				;
			if (i > n) {
				print sources[s], $0
				next
			}
		}
		print "", $0
	}
	function keys(line, n, i, parts, at) {
		for (i = 2; i <= NF; i++) {
			at = index($i "=", "=")
			key[++n] = substr($i, 1, at - 1)
			at = split(substr($i, at + 1), parts, "@")
			for (; at > 1; at--)
				if (at % 2 == 0 && parts[at] != "")
					key[++n] = parts[at]
		}
		return n
	}' "$tmp/places" - >"$tmp/defects"

while IFS=$'\t' read -r sentence rest; do
	broken "no place for '$sentence' ($rest) in ${mutated[*]}; see the head of mutate.sh"
done < <(sed -n 's/^\t//p' "$tmp/defects")
n=$(wc -l <"$tmp/defects")
((n)) || broken "$name.defects is empty"
if [[ ! ${NNB_MUTANTS-} && ! $sample ]]; then
	judged "$name: $n defects have their place; NNB_MUTANTS=1 plants them"
	exit
fi

# ---- verdicts ----

compile() # compile SOURCE OBJECT
{
	"$CC" -std=gnu11 -O1 -Werror=incompatible-pointer-types -Werror=int-conversion -D_GNU_SOURCE "${flags[@]}" -c -o "$2" "$1"
}

object() # object SOURCE
{
	echo "$tmp/$(tr / . <<<"${1%.c}").o"
}

# The defect is in $tmp/planted.c, and replaces $source.
builds()
{
	local each test

	compile "$tmp/planted.c" "$tmp/planted.o" || return 1
	for test in "${tests[@]}"; do
		for each in "${mutated[@]}" "${others[@]}" "$test"; do
			if [[ $each == "$source" ]]; then echo "$tmp/planted.o"; else object "$each"; fi
		done >"$tmp/objects"
		"$CC" -o "$tmp/$(basename "$test" .c)" "@$tmp/objects" "${link[@]}" || return 1
	done
}

# limited_test SECONDS NAME: runs a test program as limited does.
limited_test()
{
	local -n arguments=$2_arguments

	limited "$1" "$tmp/$2" ${arguments[@]+"${arguments[@]}"}
}

declare -A limits # of each test program, in cpu seconds

fails()
{
	local test failed

	for test in "${tests[@]}"; do
		test=$(basename "$test" .c)
		limited_test "${limits[$test]}" "$test" && continue
		failed=$(sed -n 's/^\[  FAILED  \] //p' "$tmp/said" | head -1)
		by="$test: ${failed:-a crash, or more than ${limits[$test]} s}"
		return 0
	done
	return 1
}

seconds=${NNB_SOAK_SECONDS-}
unset NNB_SOAK_SECONDS # each test would run for that long
for each in "${mutated[@]}" "${others[@]}" "${tests[@]}"; do
	compile "$tree/$each" "$(object "$each")"
done
source=${mutated[0]}
cp "$tree/$source" "$tmp/planted.c"
builds
TIMEFORMAT=%0U
for test in "${tests[@]}"; do
	test=$(basename "$test" .c)
	if ! { time limited_test 300 "$test"; } 2>"$tmp/time"; then
		cat "$tmp/said"
		broken "$test fails without a defect"
		judged
	fi
	limits[$test]=$((3 + 3 * $(tail -1 "$tmp/time")))
done

while IFS=$'\t' read -r source sentence edits; do
	[[ $source ]] || continue
	IFS=$'\t' read -ra each <<<"$edits"
	if ! "$mutants" "$tree/$source" "${each[@]}" >"$tmp/planted.c" || cmp -s "$tree/$source" "$tmp/planted.c"; then
		broken "cannot plant: $sentence"
		continue
	fi
	if [[ $sentence == '? '* ]]; then
		try "$sentence"
		[[ $verdict == survives ]] || broken "$verdict: $sentence: remove the question mark or the defect"
	else
		must_catch "$sentence"
	fi
done <"$tmp/defects"
listed=$caught

# ---- score ----

caught=0 tried=0 survivors=()
while IFS=$'\t' read -r key source place operator text; do
	if [[ $sample ]]; then
		((tried < sample)) || break
	elif [[ $seconds ]]; then
		((SECONDS < seconds)) || break
	else
		((tried < 100)) || break
	fi
	"$mutants" "$tree/$source" "$key" >"$tmp/planted.c"
	try "$source:$place $operator: $text ($key)"
	[[ $verdict == unbuilt ]] || tried=$((tried + 1))
done < <(for source in "${mutated[@]}"; do
	"$mutants" "$tree/$source" | awk -F '\t' -v OFS='\t' -v source="$source" '{ $1 = $1 OFS source; print }'
done | sort)
score=$((tried ? 100 * caught / tried : 100))
((tried < enough || score >= bar)) || broken "the tests catch $score% of a sample of $tried changes, and the bar is $bar%"
judged "$name: $listed of $n listed defects caught; of a sample of $tried changes $caught caught, $score%"

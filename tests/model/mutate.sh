#!/usr/bin/env bash
# mutate.sh [--seeds N] [--all] TREE -- model_fmq notices when an ordering of the queue is weakened. The unchanged queue must
# pass. Then the script weakens each line that ends in a number, "/* (k) */": the order becomes relaxed, a fence becomes
# acq_rel and goes away, and each read-modify-write becomes a load and a store. Each time the model must fail. With --all, the
# script also weakens the orderings without a number, and names those that the model does not notice: they may be stronger
# than necessary, or no scenario looks at them. The script reads C's own words and the numbers, and no names of the queue.
# CC is the compiler.
. "$(dirname "$0")/../mutate/driver.sh"

seeds=2000
all=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--seeds) seeds=$2; shift 2 ;;
	--all) all=yes; shift ;;
	*) echo "mutate: '$1' is no option" >&2; exit 2 ;;
	esac
done
tree=${1:?TREE}
fmq=$tree/runtime/fmq
wants "${CC:=cc}"
scratch

compile() # compile SOURCE OBJECT
{
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -I"$tmp" -I"$tree/runtime" -I"$tree/runtime/include" -I"$tree/tests/model" \
		-I"$tree/tracepoints/include" -DNBT_OFF \
		-include sim_atomics.h -c -o "$tmp/$2.o" "$1"
}

# Builds the model over the queue's sources in $tmp/fmq, of which $file has changed.
builds()
{
	local each

	for each in fmq event_flag; do
		[[ $file == "$each.c" ]] || [[ $file == *.h ]] || continue
		compile "$tmp/fmq/$each.c" "$each" || return 1
	done
	"$CC" -o "$tmp/model_fmq" "$tmp"/{sim,model_fmq,fmq,event_flag}.o
}

fails()
{
	local told

	! told=$("$tmp/model_fmq" --seeds "$seeds") || return 1
	[[ $told == *' seed '* && $told != *'model is too small'* ]] || broken "$file:$line: ${told:-the model died}"
	by=${told%; replay*}
}

# mutant FILE LINE DEFECT SED: plants the defect in that line and tries it, by the function $judge.
mutant()
{
	local file=$1 line=$2

	sed "$line$4" "$fmq/$file" >"$tmp/fmq/$file"
	if cmp -s "$fmq/$file" "$tmp/fmq/$file"; then
		broken "cannot plant: $file:$line $3"
	else
		$judge "$3"
	fi
	cp "$fmq/$file" "$tmp/fmq/$file"
	cp "$tmp"/whole/*.o "$tmp"
}

# weaken FILE LINE TEXT NAME: weaken every ordering in a line.
weaken()
{
	local order

	[[ $3 =~ memory_order_([a-z_]+) ]] || { broken "$1:$2 has a number and no memory order"; return; }
	order=${BASH_REMATCH[1]}
	if [[ $3 == *atomic_thread_fence* ]]; then
		mutant "$1" "$2" "$4 $order fence -> none" 's/atomic_thread_fence([a-z_]*)//'
		[[ $order != seq_cst ]] || mutant "$1" "$2" "$4 $order fence -> acq_rel" 's/memory_order_seq_cst/memory_order_acq_rel/'
	else
		mutant "$1" "$2" "$4 $order -> relaxed" "s/memory_order_$order/memory_order_relaxed/"
	fi
}

mkdir "$tmp/whole"
cp -r "$fmq" "$tmp/fmq"
for source in sim model_fmq; do
	compile "$tree/tests/model/$source.c" "$source"
done
file=event_flag.h builds
cp "$tmp"/{fmq,event_flag}.o "$tmp/whole"
"$tmp/model_fmq" --seeds "$seeds" || { broken 'the unchanged queue fails'; judged; }

judge=must_catch
number='/\* \([0-9]+\) \*/$'
for path in "$fmq"/fmq.c "$fmq"/event_flag.[hc]; do
	file=${path##*/}
	while IFS=: read -r line text; do
		weaken "$file" "$line" "$text" "$file $(grep -o '([0-9]*) \*/$' <<<"$text" | cut -d' ' -f1)"
	done < <(grep -nE "$number" "$path")
	while IFS=: read -r line text; do
		mutant "$file" "$line" "$file:$line read-modify-write -> load, store" 's/atomic_fetch_/split_&/'
	done < <(grep -n 'atomic_fetch_' "$path")
done
# Each number of the ORDERING of a protocol is on some line of it.
for path in "$fmq"/fmq.c "$fmq"/event_flag.c; do
	while read -r each; do
		grep -qF "/* $each */" "${path%.c}".[hc] || broken "no line of ${path##*/} bears $each"
	done < <(grep -oE '^ \* (ORDERING)? +\([0-9]+\)' "$path" | grep -o '([0-9]*)')
done
((caught)) || broken 'found nothing to weaken'
listed=$caught

if [[ $all ]]; then
	judge=try survivors=()
	for path in "$fmq"/fmq.c "$fmq"/event_flag.[hc]; do
		file=${path##*/}
		while IFS=: read -r line text; do
			weaken "$file" "$line" "$text" "$file:$line (no number)"
		done < <(grep -nE 'memory_order_(acquire|release|acq_rel|seq_cst)' "$path" | grep -vE "$number")
	done
	((${#survivors[@]} == 0)) || printf 'not noticed  %s\n' "${survivors[@]}"
fi
judged "$listed mutants of the queue caught"

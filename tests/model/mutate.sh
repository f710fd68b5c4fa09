#!/usr/bin/env bash
# mutate.sh [--seeds N] [--all] TREE -- model_fmq notices when an ordering of the queue is weakened. The
# unchanged queue has to pass; then each line that ends in a number, "/* (k) */", is made relaxed, or its
# fence acq_rel and nothing at all, and each read-modify-write is taken apart, and each time it has to fail.
# With --all, orderings without a number are weakened too, and those that nobody missed are named: they may
# be stronger than they need be, or no scenario looks at them. CC is the compiler.
. "$(dirname "$0")/../rules/rule.sh"

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

build() # build DIR: the model over the queue's sources in DIR
{
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -I"$1" -I"$tree/runtime/include" -I"$tree/tests/model" \
		-include sim_atomics.h -o "$tmp/model_fmq" \
		"$tmp/sim.o" "$tmp/model.o" "$1/fmq.c" "$1/event_flag.c"
}

# mutant FILE LINE WHAT SED: the line of the file is changed; somebody has to notice.
mutant()
{
	local file=$1 line=$2 what=$3 told

	rm -rf "$tmp/fmq"
	cp -r "$fmq" "$tmp/fmq"
	sed -i "$line$4" "$tmp/fmq/$file"
	if cmp -s "$fmq/$file" "$tmp/fmq/$file"; then
		broken "cannot make $file:$line $what"
	elif ! build "$tmp/fmq"; then
		broken "$file:$line $what does not build"
	elif told=$("$tmp/model_fmq" --seeds "$seeds"); then
		missed+=("$what")
	elif [[ $told != *' seed '* || $told == *'model is too small'* ]]; then
		broken "$file:$line $what: ${told:-the model died}"
	else
		printf 'caught  %s  by %s\n' "$what" "${told%; replay*}"
		caught=$((caught + 1))
	fi
}

# weaken FILE LINE TEXT NAME: what there is to weaken in a line.
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

for source in sim model_fmq; do
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -I"$tree/runtime/include" -I"$fmq" -I"$tree/tests/model" \
		-include sim_atomics.h -c -o "$tmp/${source%_fmq}.o" "$tree/tests/model/$source.c"
done
build "$fmq"
"$tmp/model_fmq" --seeds "$seeds" || { broken 'the unchanged queue fails'; judged; }

caught=0
missed=()
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
# What the ORDERING of a protocol counts, some line of it bears.
for path in "$fmq"/fmq.c "$fmq"/event_flag.c; do
	while read -r each; do
		grep -qF "/* $each */" "${path%.c}".[hc] || broken "no line of ${path##*/} bears $each"
	done < <(grep -oE '^ \* (ORDERING)? +\([0-9]+\)' "$path" | grep -o '([0-9]*)')
done
((caught)) || broken 'found nothing to weaken'
for each in "${missed[@]}"; do
	broken "nobody missed $each"
done
missed=()

if [[ $all ]]; then
	for path in "$fmq"/fmq.c "$fmq"/event_flag.[hc]; do
		file=${path##*/}
		while IFS=: read -r line text; do
			weaken "$file" "$line" "$text" "$file:$line (no number)"
		done < <(grep -nE 'memory_order_(acquire|release|acq_rel|seq_cst)' "$path" | grep -vE "$number")
	done
	((${#missed[@]} == 0)) || printf 'not missed  %s\n' "${missed[@]}"
fi
judged "$caught mutants of the queue caught"

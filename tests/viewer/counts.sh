#!/usr/bin/env bash
# counts.sh BURSTSCOPE TRACE_FROM_TEXT -- misses, check, summary and the page count the same deadlines and misses of
# one recording, with and without losses, and in the same words.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0
echo 'miss ratio <= 1 %' >one.slo

# Two apps with a model of one name: executions within and between two holes, and some seen from one side.
cat >holes.trace <<'END'
usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
0 service_state pid=100 policy=fair preempt_mode=save lanes=2 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=red
0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue
0 model_prepare model=1 conn=1 name=net priority=medium ops=10 estimate_ns=100us step_ns=10us
0 model_prepare model=2 conn=2 name=net priority=medium ops=10 estimate_ns=100us step_ns=10us
0 stream_open stream=1 conn=1 path=burst model=1
0 stream_open stream=2 conn=2 path=burst model=2
1ms        1:1  x20 every=1ms deadline=230us lane=0
1ms+500us  2:1  x20 every=1ms lane=1
50ms       1:21 x20 every=1ms deadline=150us lane=0
50ms+500us 2:21 x10 every=1ms deadline=120us lane=1
100ms      1:41 x9  every=1ms deadline=150us lane=0 side=service
120ms      2:31 x9  every=1ms deadline=150us lane=1 side=client
lose 3ms 4ms+100us
lose 55ms+100us 57ms+50us
3s         1:60 deadline=150us lane=0
END

# Print the counts of the first "[at least ]N of [the ]M[ recorded] [deadlines|executions] missed" of standard input.
counted() { sed -E 's/ of the ([0-9]+) recorded / of \1 /' | grep -Eo '(at least )?[0-9]+ of [0-9]+ (deadlines (was |were )?missed|executions missed|missed)' | sed -En '1s/ (deadlines|executions|missed).*//p'; }

# agrees NAME TRACE FORM
agrees()
{
	local name=$1 rows missed deadlines unknown unseen want is

	"$trace_from_text" -e "$3" -o 1700000000000000000 "$name" <"$2"
	"$burstscope" import -q -o "$name.db" "$name" || (($? == 3))
	rows=$("$burstscope" misses -q --part totals --format csv "$name.db" | tail -1)
	IFS=, read -r _ deadlines missed _ _ _ _ _ unknown unseen <<<"$rows"
	want="$missed of $((deadlines + unknown))"
	((!unknown && !unseen)) || want="at least $want"
	for is in misses summary check page; do
		case $is in
		check) "$burstscope" check -q --slo one.slo --format csv "$name.db" >said || true ;;
		page) "$burstscope" report -q -o "$name.html" "$name.db" && cp "$name.html" said ;;
		*) "$burstscope" "$is" -q "$name.db" >said || true ;;
		esac
		# Where something was lost there may have been more: they are those that were recorded.
		[[ $name != holes_* && $name != lossy || $is == check ]] || grep -q ' of the [0-9]* recorded ' said || {
			echo "counts.sh: $name: $is says 'of M', as if nothing had been lost"
			failures=$((failures + 1))
		}
		[[ $(counted <said) == "$want" ]] && continue
		echo "counts.sh: $name: $is counts $(counted <said), not $want"
		failures=$((failures + 1))
	done
}

for form in full compact both; do agrees "holes_$form" holes.trace "$form"; done
for trace in lossy alone camera; do agrees "$trace" "$here/../golden/$trace.trace" full; done
grep -q 'at least' <("$burstscope" misses -q holes_full.db) || { echo 'counts.sh: nothing is missing of holes_full'; failures=$((failures + 1)); }
exit $((failures > 0))

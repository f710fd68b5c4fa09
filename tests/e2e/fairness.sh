#!/usr/bin/env bash
# fairness.sh BURSTSCOPE SERVICE LOAD -- live recordings: under the policy fair each scenario passes the rule fairness,
# idle or loaded. A fight of four apps in which one gets almost nothing fails it under edf and priority, and the
# verdict names that app and the one that took its share. NNB_FAIRNESS: the number of rounds of all; nineteen of twenty
# recordings of a kind must be right. Otherwise there is one fight, with up to three tries.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3
rounds=${NNB_FAIRNESS:-0}
export LC_ALL=C.UTF-8

hog() # NAME DEADLINE
{
	echo "{\"name\": \"$1\", \"streams\": [{\"name\": \"pictures\", \"model\": \"mobilenet-640\", \"priority\": \"high\", \"deadline\": \"$2\", \"polling\": \"none\", \"threads\": 2}]}"
}
# The deadlines are long, so that a busy machine misses none: there a picture takes 100 ms and six wait, and an
# execution that is given up would leave the lane to meek.
scenario fight "{\"name\": \"fight\", \"duration\": \"2s\", \"apps\": [$(hog north 4s), $(hog east 4s), $(hog south 4s),
	{\"name\": \"meek\", \"streams\": [{\"name\": \"pictures\", \"model\": \"mobilenet-640\", \"priority\": \"low\", \"polling\": \"none\"}]}]}"

# verdict SCENARIO OPTION...: record the scenario and print "pass", "FAIL: why" or "cannot tell: why".
recordings=0
verdict()
{
	local what=$1 name=r$((++recordings))
	shift

	session "$name" DEBUG_FUNCTION
	start_service "$service" "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration 2s "$what"
	stop_service || wrong "$what: nnburstd does not end well"
	end_session "$name"
	quietly "$burstscope" import -q -o "$tmp/$name.db" "$tmp/$name"
	"$burstscope" fairness "$tmp/$name.db" | sed -nE "s/^verdict: (pass|FAIL|cannot tell):? ?(.*)/\1 \2/p" >"$tmp/verdict"
	rm -r "${tmp:?}/$name" "$tmp/$name.db"
}

fails='^FAIL .*meek(.s executions took| got) .*; (they waited mostly for )?(north|east|south)'

start_sessiond
if ((!rounds)); then
	for tries in 1 2 3; do
		verdict "$tmp/fight.json" --lanes 1 --policy priority
		[[ ! $(<"$tmp/verdict") =~ $fails ]] || exit 0
		echo "fairness: recording $tries: $(<"$tmp/verdict")"
	done
	wrong 'a fight of four apps does not fail in three recordings'
	exit 1
fi

declare -A held=()
for ((round = 1; round <= rounds; round++)); do
	for what in "$tmp/fight.json" starvation noisy-neighbour deadline-mix camera+background demo; do
		verdict "$what" --lanes $((1 + round % 2)) --policy fair
		key="$(basename "$what" .json), fair"
		if [[ $(<"$tmp/verdict") == pass* ]]; then
			held[$key]=$((${held[$key]-0} + 1))
		else
			echo "$key, round $round: $(<"$tmp/verdict")"
		fi
	done
	for policy in edf priority; do
		verdict "$tmp/fight.json" --lanes 1 --policy "$policy"
		if [[ $(<"$tmp/verdict") =~ $fails ]]; then
			held["fight, $policy"]=$((${held["fight, $policy"]-0} + 1))
		else
			echo "fight, $policy, round $round: $(<"$tmp/verdict")"
		fi
	done
done
for key in 'fight, fair' 'starvation, fair' 'noisy-neighbour, fair' 'deadline-mix, fair' 'camera+background, fair' 'demo, fair' 'fight, edf' 'fight, priority'; do
	echo "$key: ${held[$key]-0} of $rounds"
	((20 * ${held[$key]-0} >= 19 * rounds)) || wrong "$key: ${held[$key]-0} of $rounds"
done
((failures == 0))

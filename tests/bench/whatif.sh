#!/usr/bin/env bash
# whatif.sh DIR SECONDS LOAD_TIME BURSTSCOPE SERVICE LOAD DRIVER -- the recordings of bench_whatif, into DIR: what is there already is not recorded again.
#
# SCENARIO-POLICY-K.db: K is 1 or 2, recorded one after the other for all policies, so that what the machine does meanwhile is the same for
# all. SCENARIO-without-POLICY.db: one app is not there. SCENARIO-slow-POLICY.db: each operation of a MobileNet takes twice as long.
# Each runs for LOAD_TIME. After SECONDS it ends with what it has, and with status 3.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
dir=$1 until=$((SECONDS + $2)) time=$3 burstscope=$4 service=$5 load=$6 driver=$7
mobilenet=30 # operations
scenarios=(deadline-mix noisy-neighbour starvation inversion camera+background two-lanes closed-fight edf-infeasible arrival-bursts)
declare -A without=([deadline-mix]=gallery [noisy-neighbour]=noisy [starvation]=hog [inversion]=phone
	[camera+background]=background [two-lanes]=gallery [closed-fight]=large [edf-infeasible]=large [arrival-bursts]=album)

scenario two-lanes '{"duration": "2s", "apps": [
	{"name": "camera", "streams": [{"model": "mobilenet-448", "priority": "high", "fps": 30, "jitter": "5ms", "deadline": "33ms"}]},
	{"name": "assistant", "streams": [{"model": "keyword", "priority": "high", "period": "10ms", "jitter": "2ms", "deadline": "6ms"}]},
	{"name": "gallery", "streams": [{"model": "mobilenet-640", "priority": "low", "threads": 3, "deadline": "150ms"}]}]}'
scenario closed-fight '{"duration": "2s", "apps": [
	{"name": "small", "streams": [{"model": "keyword", "think": "500us", "deadline": "10ms"}]},
	{"name": "steady", "streams": [{"model": "mobilenet", "think": "1ms", "deadline": "15ms"}]},
	{"name": "pair", "streams": [{"model": "mobilenet-320", "threads": 2, "deadline": "60ms"}]},
	{"name": "large", "streams": [{"model": "mobilenet-640", "priority": "high"}]}]}'
scenario edf-infeasible '{"duration": "2s", "apps": [
	{"name": "small", "streams": [{"model": "keyword", "period": "5ms", "jitter": "1ms", "deadline": "5ms"}]},
	{"name": "middle", "streams": [{"model": "mobilenet-448", "period": "11ms", "jitter": "2ms", "deadline": "25ms"}]},
	{"name": "large", "streams": [{"model": "mobilenet-640", "period": "20ms", "jitter": "3ms", "deadline": "45ms"}]}]}'
scenario arrival-bursts '{"duration": "2s", "apps": [
	{"name": "assistant", "streams": [{"model": "keyword", "priority": "high", "period": "10ms", "jitter": "3ms", "deadline": "8ms"}]},
	{"name": "gallery", "streams": [{"model": "mobilenet-320", "threads": 8, "period": "100ms", "jitter": "1ms", "deadline": "40ms"}]},
	{"name": "album", "streams": [{"model": "mobilenet-448", "priority": "low", "threads": 4, "period": "140ms", "jitter": "2ms", "deadline": "90ms",
		"path": "fenced"}]}]}'

# missing NAME SCENARIO: a copy of it without one app.
missing()
{
	local from=$tmp/$2.json
	[[ -e $from ]] || from=$(dirname "$0")/../../runtime/load/scenarios/$2.json
	python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
s["apps"] = [a for a in s["apps"] if a["name"] != sys.argv[2]]
json.dump(s, sys.stdout)' "$from" "${without[$2]}" >"$tmp/$1.json"
}

# record NAME SCENARIO POLICY PERCENT: DIR/NAME.db.
record()
{
	local name=$1 what=$2 policy=$3 percent=$4 lanes=1 trace=x$((++recorded))

	[[ ! -e $dir/$name.db ]] || return 0
	((SECONDS < until)) || exit 3
	[[ $name != two-lanes* ]] || lanes=2
	[[ ! -e $tmp/$what.json ]] || what=$tmp/$what.json
	session "$trace" DEBUG_FUNCTION
	NNB_SLOWER="$mobilenet $percent" start_service "$service" --driver "$driver" --lanes "$lanes" --policy "$policy" 2>"$tmp/said"
	quietly "$load" --quiet --socket "$tmp/socket" --duration "$time" "$what"
	stop_service || wrong "$name: nnburstd does not end well"
	end_session "$trace"
	quietly "$burstscope" import -q -o "$tmp/$trace.db" "$tmp/$trace"
	mv "$tmp/$trace.db" "$dir/$name.db"
	rm -r "${tmp:?}/$trace"
}

mkdir -p "$dir"
recorded=0
start_sessiond
for scenario in "${scenarios[@]}"; do
	for k in 1 2; do
		for policy in fifo priority fair edf; do record "$scenario-$policy-$k" "$scenario" "$policy" 0; done
	done
	[[ $scenario == inversion ]] || missing "without" "$scenario" # it has one app
	for policy in fifo fair; do
		[[ $scenario == inversion ]] || record "$scenario-without-$policy" without "$policy" 0
		record "$scenario-slow-$policy" "$scenario" "$policy" 100
	done
done
((failures == 0))

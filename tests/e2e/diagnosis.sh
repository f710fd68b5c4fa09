#!/usr/bin/env bash
# diagnosis.sh BURSTSCOPE SERVICE LOAD -- each shipped scenario is recorded live, one of them in part. `burstscope summary` must put the
# scenario's defect first, with its victim and its doer; where a policy is to blame, another policy turns the verdict
# to pass. Other work of the machine may spoil a recording, so each is made up to three times.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$tmp/service load=$3

# The device of this service is the cpu: where this user may, raise its priority over other work of the machine.
{
	echo '#!/bin/sh'
	nice -n -10 true 2>"$tmp/null" && echo "exec nice -n -10 '$2' \"\$@\""
	echo "exec '$2' \"\$@\""
} >"$service"
chmod +x "$service"

# record SCENARIO OPTION...: record into $db.
record()
{
	local what=$1 name=r$((++recordings))
	shift

	session "$name" DEBUG_FUNCTION
	start_service "$service" "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration 2500ms "$what"
	stop_service || wrong "$what: nnburstd does not end well"
	end_session "$name"
	db=$tmp/$name.db
	quietly "$burstscope" import -q -o "$db" "$tmp/$name"
	rm -r "${tmp:?}/$name"
}

# found PART COLUMN: print that column of the first row of the part of the summary.
found()
{
	"$burstscope" summary --format csv --part "$1" "$db" >"$tmp/part.csv"
	sqlite3 :memory: ".import --csv '$tmp/part.csv' part" "SELECT $2 FROM part LIMIT 1"
}

# first COLUMN REGEX: the first finding must match; print it if not.
first()
{
	local got
	got=$(found diagnosis "$1" 2>&1) || true
	[[ $got =~ $2 ]] || echo "the first finding's $1 is '$got'; not $2; "
}

# has_finding FINDING: print the findings if this one is not among them.
has_finding()
{
	grep -q ",$1," <("$burstscope" summary --format csv --part diagnosis "$db") || echo "there is no finding $1; "
}

# verdict AUDIT STATUS
verdict()
{
	local status=0
	"$burstscope" "$1" --verdict "$db" >"$tmp/audit" 2>&1 || status=$?
	((status == $2)) || echo "$1 --verdict ends with $status and not $2: $(tail -n 8 "$tmp/audit"); "
}

# shows CHECKS SCENARIO OPTION...: record the scenario; the function CHECKS below prints what is wrong.
shows()
{
	local checks=$1 tries said
	shift

	for tries in 1 2 3; do
		record "$@"
		said=$($checks)
		[[ $said ]] || return 0
		echo "diagnosis: $*, recording $tries: $said"
	done
	wrong "$*: not in three recordings"
}

# ---- the findings of each scenario, and of each under another policy ----

inversion() { first finding inversion; first culprit "phone's mobilenet"; verdict priority 1; }
inversion_fair() { verdict priority 0; }
starvation() { first finding starvation; first who meek; first culprit hog; verdict starvation 1; }
starvation_fair() { verdict starvation 0; }
noisy() { first finding 'hogged|crowded_out'; first who well-behaved; first culprit noisy; verdict fairness 1; }
noisy_fair() { verdict fairness 0; }
too_big() { first finding too_big; first who impossible; }
cold() { first finding burst_per_call; has_finding cold; }
transport() { first finding woken_late; }

# Of the shipped scenario, the streams whose time is that of messages. The others have new pools, which are mapped, or the service starts a thread
# for each of their executions: that is time of the service, and where a busy cpu makes wake-ups short, there is more of it.
scenario transport '{"name": "transport", "duration": "3s", "apps": [
	{"name": "bursts", "streams": [
		{"name": "polling", "model": "mlp", "polling": "auto", "think": "1ms"},
		{"name": "blocking", "model": "mlp", "polling": "none", "think": "1ms"},
		{"name": "sleeping", "model": "mlp", "polling": "none", "think": "20ms"}]},
	{"name": "calls", "streams": [{"name": "sleeping", "model": "mlp", "path": "sync", "think": "20ms"}]}]}'

recordings=0 db=
start_sessiond
shows inversion inversion --lanes 1 --policy fifo --preempt none
shows inversion_fair inversion --lanes 1 --policy fair --preempt save
shows starvation starvation --lanes 1 --policy priority
shows starvation_fair starvation --lanes 1 --policy fair --preempt save
shows noisy noisy-neighbour --lanes 1 --policy fifo
shows noisy_fair noisy-neighbour --lanes 1 --policy fair --preempt save
shows too_big too-big --lanes 1
shows cold cold-start
shows transport "$tmp/transport.json"
((failures == 0))

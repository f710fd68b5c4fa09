#!/usr/bin/env bash
# scope.sh BURSTSCOPE SERVICE LOAD EVENTS.md -- record, top and watch of one app, one user, one process or one service
# of several: the trace lacks what LTTng filters, the answers lack what the reader leaves out, and each command shows
# which is which.
set -euo pipefail
burstscope=$1 service=$2 load=$3 events=$4 json_schema= schema=
. "$(dirname "$0")/../watching.sh"
others=
trap 'stop_jobs; stop_all; [[ ! $others ]] || kill $others 2>/dev/null || true; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

two='"streams": [{"name": "short", "model": "keyword", "period": "20ms"}, {"name": "late", "model": "keyword", "period": "20ms", "deadline": "1us"}]'
scenario two '{"name": "two", "duration": "600s", "apps": [{"name": "here", '"$two"'}, {"name": "there", '"$two"'}]}'
scenario third '{"name": "third", "duration": "600s", "apps": [{"name": "elsewhere", '"$two"'}]}'
start_sessiond
start_service "$service" --lanes 1
"$service" --socket "$tmp/other" --app-identity pid &
others=$!
until [[ -S $tmp/other ]]; do sleep 0.05; done
"$load" --quiet --socket "$tmp/socket" "$tmp/two.json" >load.out 2>&1 &
apps=$!
"$load" --quiet --socket "$tmp/other" "$tmp/third.json" >third.out 2>&1 &
others+=" $!"
bursting
here=$victim
there=$(awk '{print $2}' "/proc/$apps/task/$apps/children")
awaits '"$service" --status --socket "$tmp/other" | grep -Eq "^[0-9]+ +.*[1-9]"' 'another service has an app'

# records NAME ARGUMENT...: record; the file said has its standard error.
records()
{
	local name=$1
	shift
	"$burstscope" record -o "$name" --for 400ms "$@" 2>err || wrong "record $* ends with $?: $(<err)"
	said=$(<err)
}

clients() { "$burstscope" sql -q --format csv "$1.db" "SELECT group_concat(DISTINCT app) FROM (SELECT (SELECT name FROM app WHERE id = app_id) AS app FROM execution WHERE submitted IS NOT NULL AND enqueued IS NOT NULL ORDER BY 1)" | tail -n 1; }
services() { "$burstscope" sql -q --format csv "$1.db" "SELECT group_concat(DISTINCT app) FROM (SELECT (SELECT name FROM app WHERE id = app_id) AS app FROM execution WHERE decoded IS NOT NULL ORDER BY 1)" | tail -n 1; }
answered() { "$burstscope" latency -q --format csv "$1" 2>/dev/null | tail -n +2 | cut -d , -f 1 | sed '/^$/d' | sort -u | tr '\n' ' '; }

# is WHAT WANTED
is() { [[ $1 == "$2" ]] || wrong "${BASH_LINENO[0]}: $1, not $2"; }

records all
is "$(clients all)" '"elsewhere,here,there"'
is "$(answered all)" 'elsewhere here there '

# ---- filtered by LTTng: a process, a user ----
records pid --pid "$here"
says "scope pid=$here: LTTng does not record what apps other than pid $here emit; the service's events about other executions are recorded, and left out when the recording is read"
is "$(clients pid)" here
is "$(services pid)" '"elsewhere,here,there"'
is "$(answered pid)" 'here '
said=$("$burstscope" latency pid 2>/dev/null | tail -n 1)
[[ $said =~ 'seen from the service alone ('(all|[0-9 ]+)' of them outside of the scope)' ]] || wrong "whose executions lack a side: $said"
said=$("$burstscope" latency pid 2>&1 >/dev/null)
says "scope: pid=$here; other executions were not asked for when this was recorded, and are left out"
for whole in summary fairness memory timeline; do
	said=$("$burstscope" $whole pid 2>&1 >/dev/null)
	says "scope: pid=$here; other executions were not asked for when this was recorded, and $whole shows them, too"
done
records nobody --app 4242
says 'scope app=4242: LTTng does not record what apps of other users than 4242 emit'
is "$(clients nobody)" ''
is "$(answered nobody)" ''

# ---- left out by the reader: a name ----
records name --app there
says 'scope app=there: LTTng records all apps, because no event of an app has its name; the others are left out when the recording is read'
is "$(clients name)" '"elsewhere,here,there"'
is "$(answered name)" 'there '
# misses has the doers of that app's misses alone, and summary those of all.
is "$("$burstscope" misses -q --part doers --format csv name 2>/dev/null | awk -F , 'NR > 1 { n += $(NF - 3) } END { print n }')" \
	"$("$burstscope" sql -q --format csv name.db "SELECT sum(n) FROM miss_blame b LEFT JOIN model m ON m.id = b.model_id
	WHERE ifnull(b.app_id, m.app_id) = (SELECT id FROM app WHERE name = 'there')" | tail -n 1)"
said=$("$burstscope" misses name 2>/dev/null)
says 'The recording has a scope: apps and services outside of it are doers only where their events were recorded.'
# Sums that have other misses, too, and sums that cannot be read.
if command -v sqlite3 >/dev/null; then
	cp name.db part.db
	sqlite3 part.db 'UPDATE stored_miss_blame SET n = n + 1'
	said=$("$burstscope" misses part.db 2>/dev/null)
	says 'Misses by doer are not there: the scope of the recording has only some of the misses'
	status=0
	said=$("$burstscope" misses --part doers part.db 2>&1) || status=$?
	is $status 2
	says '--part doers is not there: the scope of the recording has only some of the misses'
	! "$burstscope" misses --part preparations part.db 2>err || wrong 'a scope has preparations'
	said=$(<err)
	says '--part preparations covers whole recordings only: this one has a scope'
	cp name.db damaged.db
	page=$(sqlite3 damaged.db 'PRAGMA page_size')
	root=$(sqlite3 damaged.db "SELECT rootpage FROM sqlite_master WHERE name = 'stored_miss_blame'")
	dd if=/dev/zero of=damaged.db bs="$page" seek=$((root - 1)) count=1 conv=notrunc status=none
	status=0
	said=$("$burstscope" misses damaged.db 2>&1) || status=$?
	is $status 4
	says 'the database is damaged'
fi
records compact --app there --detail compact
is "$(answered compact)" 'there '

# ---- both: a service ----
records service --service "$tmp/socket"
says "scope service=$daemon: LTTng does not record what services other than pid $daemon emit"
is "$(services service)" '"here,there"'
is "$(answered service)" 'here there '
# A client of this service may be recorded before the service is: then the recording has the client's service, but not
# its app.
is "$("$burstscope" sql -q --format csv service.db 'SELECT count(*) FROM execution WHERE (exec >> 52 & 4095) NOT IN (SELECT instance FROM service_rules)' | tail -n 1)" 0
for all in summary fairness misses doctor; do
	said=$("$burstscope" $all service 2>&1 >/dev/null)
	says "scope: service=$daemon; the import left out the executions of other services, "
done
records both --service "$tmp/other" --pid "$here"
is "$(answered both)" ''

# ---- the commands of lttng ----
said=$("$burstscope" record --print-commands --pid 77)
says "--exclude=nnburst:exec_submit,"
says "'nnburst:*'"
says "nnburst:fmq_read --loglevel=DEBUG_FUNCTION --filter='(queue == 0 || queue == 2) || \$ctx.vpid == 77'"

# Every event that the documentation lists for clients has a filter of its own, except deadline_miss: it has no field
# for its sender.
is "$(grep -- --exclude= <<<"$said" | sed 's/.*--exclude=//' | tr ',' '\n' | sort | tr '\n' ' ')" \
	"$(sed -nE 's/^\| `([a-z_]+)` \| CS? .*/nnburst:\1/p' "$events" | grep -v deadline_miss | sort | tr '\n' ' ')"

# ---- top and watch ----
"$burstscope" top --format json --for 2s --pid "$there" >top.out 2>err || wrong "top ends with $?: $(<err)"
said=$(<err)
says "scope pid=$there: LTTng does not record"
is "$(tail -n 2 top.out | grep -o '"app":"[a-z]*"' | sort -u | tr '\n' ' ')" '"app":"there" '
# The total is that of the shown rows.
is "$(tail -n 1 top.out | sed 's/"models":.*//' | grep -o '"executions":[0-9]*')" \
	"$(tail -n 1 top.out | grep -o '"total":{"executions":[0-9]*' | tail -n +2 | awk -F : '{ n += $NF } END { print "\"executions\":" n }')"
"$burstscope" top --for 300ms --app there >top.out 2>err || wrong "top ends with $?: $(<err)"
grep -Eq '^in all, of 1 of [23] apps: [1-9]' top.out || wrong "top of one app sums up: $(tail -n 1 top.out)"
"$burstscope" top --once --interval 50ms --pid 4194304 >top.out 2>err || wrong "top of no process ends with $?: $(<err)" # larger than any pid
said=$(<err)
says 'no process 4194304 is running here; scope pid=4194304: LTTng does not record'
grep -q '^no process 4194304 is running here' top.out || wrong "top of no process shows: $(<top.out)"
for scope in "--app there" "--pid $there"; do
	forget
	watches "$burstscope" --on miss --before 500ms --after 100ms --cooldown 1h $scope
	said=$(<err)
	says 'scope '
	awaits "grep -q \"^there's keyword missed\" out" "a miss of the scope $scope"
	stopped 0
	! grep -q "^here\|^elsewhere" out || wrong "watch $scope: $(<out)"
done
forget
watches "$burstscope" --on 'miss ratio <= 1 %' --window 1s --after 100ms --cooldown 1h --app there
awaits 'grep -q "^miss ratio <= 1 % fail" out' 'a rule of a scope'
stopped 0

# ---- refusals ----
status=0
said=$("$burstscope" record --service "$tmp/nobody" -o x 2>&1) || status=$?
is $status 5
says "--service $tmp/nobody: no service listens there: No such file or directory"
status=0
said=$("$burstscope" top --app '' 2>&1) || status=$?
is $status 2
says '--app: write a name of 1 to 63 bytes, or a uid'
status=0
said=$("$burstscope" watch --on miss --app 4294967296 2>&1) || status=$?
is $status 2
says '--app: 4294967296 is too large for a uid'

((failures == 0))

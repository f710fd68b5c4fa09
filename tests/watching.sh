# watching.sh -- sourced: recording.sh, and burstscope watch in the background, in a directory of its own. The script says before which programs
# there are: $burstscope, $load, and $json_schema with the $schema of a case.
. "$(dirname "${BASH_SOURCE[0]}")/recording.sh"
watcher= apps=
trap 'stop_jobs; stop_all; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
mkdir -m 700 "$tmp/work"
chmod 755 "$tmp"
cd "$tmp/work"

stop_all() { for pid in $watcher $apps; do kill -9 "$pid" 2>/dev/null || true; done; }

# ---- what is checked ----

# Work that misses each deadline, for as long as the script wants, and takes no time.
no_more() { kill "$apps" 2>/dev/null || true; await_end "$apps" 'the load ends' 2>/dev/null || true; apps=; }
kill_sessiond()
{
	kill -9 "$sessiond" 2>/dev/null || true
	await_end "$sessiond" 'lttng-sessiond is killed' 2>/dev/null || true
	sessiond=
}

# The daemon that writes for lttng-sessiond, without which that one makes no session any more.
kill_consumerd() { kill -9 $(pgrep -P "$sessiond" lttng-consumerd || pgrep -P "$(pgrep -d , -P "$sessiond")" lttng-consumerd); }

# consumerd_missed: the watcher has noticed that. lttng-sessiond (2.13) sometimes ends, too, if a request is under way: false then.
consumerd_missed()
{
	awaits 'grep -Eq "^nothing is watched: lttng-(consumerd has died|sessiond has gone)" err' 'the end of the consumer daemon is noticed'
	kill -0 "$sessiond" 2>/dev/null || return 1
	grep -q '^nothing is watched: lttng-consumerd has died' err || wrong "${BASH_LINENO[0]}: lttng-sessiond is there: $(<err)"
}

# miss [PERIOD]
miss()
{
	scenario never '{"name": "never", "duration": "1200s", "apps": [{"name": "impossible", "streams":
		[{"name": "short", "model": "keyword", "period": "'"${1:-20ms}"'", "deadline": "1us"}]}]}'
	"$load" --quiet --socket "$tmp/socket" "$tmp/never.json" >load.out 2>&1 &
	apps=$!
}

says() { [[ $said == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not said: $1 (but: $said)"; }

# refuses STATUS WORDS ARGUMENT...: in one line.
refuses()
{
	local status=0 wanted=$1 words=$2
	shift 2
	said=$("$burstscope" watch "$@" 2>&1) || status=$?
	((status == wanted)) || wrong "${BASH_LINENO[0]}: watch $* ends with $status, not $wanted"
	says "$words"
	[[ $said != *$'\n'* ]] || wrong "${BASH_LINENO[0]}: watch $*: not one line: $said"
}

# watches PROGRAM ARGUMENT...: in the background, until it says that it does. Its lines go to out, what else it says to err.
watches()
{
	local program=$1
	shift
	: >err
	env --default-signal=INT,TERM,HUP "$program" watch -o cases "$@" >>out 2>err &
	watcher=$!
	awaits 'grep -q "^cases go into" err' "watch $* begins"
}

# slow_importer: $tmp/slow/burstscope has an importer that waits for $tmp/go before it makes a case, for half a minute at most.
slow_importer()
{
	mkdir "$tmp/slow"
	cp "$burstscope" "$tmp/slow/burstscope"
	cat >"$tmp/slow/burstscope-importer" <<-EOF
		#!/bin/sh
		if [ "\$1" != --follow ]; then
			touch "$tmp/importing"
			n=0
			until [ -e "$tmp/go" ] || [ \$((n += 1)) -gt 600 ]; do sleep 0.05; done
		fi
		exec "$(dirname "$burstscope")/burstscope-importer" "\$@"
	EOF
	chmod +x "$tmp/slow/burstscope-importer"
}

# begin_slowly: the next import waits. It has begun once $tmp/importing is there.
begin_slowly() { rm -f "$tmp/importing" "$tmp/go"; }

# awaits CONDITION WHAT
awaits()
{
	local tries=0
	until eval "$1"; do
		((++tries < 1200)) || { wrong "${BASH_LINENO[0]}: not within a minute: $2: $(tail -n 5 out err load.out 2>&1)"; return; }
		sleep 0.05
	done
}

# bursting: the first app of the load begun last, which is $victim from then on, has had an execution, or a refusal: it has a stream open.
bursting()
{
	awaits 'victim=$(awk "{print \$1}" "/proc/$apps/task/$apps/children"); [[ $victim ]] && "$service" --status --socket "$tmp/socket" |
		grep -Eq "^$victim +.*[1-9]"' 'an app asks for executions'
}

# over STATUS: it ends so, by itself.
over()
{
	local status=0
	await_end "$watcher" "line ${BASH_LINENO[0]}: watch ends" || status=$?
	watcher=
	((status == $1)) || wrong "${BASH_LINENO[0]}: it ends with $status, not $1: $(tail -n 5 out err load.out 2>&1)"
}

# stopped STATUS: it ends so, when it is asked to.
stopped()
{
	kill "$watcher" 2>/dev/null || true
	over "$1"
	leaves_nothing
}

# listed WHAT: sessions or triggers of burstscope, as lttng WHAT has them.
listed()
{
	local status=0 text
	text=$(timeout 60 lttng --no-sessiond "$1" 2>/dev/null) || status=$?
	((status != 124)) || echo "lttng $1 does not answer within a minute"
	grep burstscope- <<<"$text" || true
}

leaves_nothing()
{
	local text
	text=$(listed list)
	[[ ! $text ]] || wrong "${BASH_LINENO[1]}: a session is left: $text"
	text=$(listed list-triggers)
	[[ ! $text ]] || wrong "${BASH_LINENO[1]}: a trigger is left: $text"
	[[ ! $(ls -d cases/*.half 2>/dev/null) ]] || wrong "${BASH_LINENO[1]}: a half case is left"
}

# Every case is whole.
whole()
{
	local each
	for each in cases/2*; do
		[[ $each != *.half ]] || continue
		[[ -s $each/trace.db && -s $each/report.html && -d $each/trace/ust ]] || wrong "$each is not whole: $(ls "$each")"
		! grep -qF '.half/trace.db' "$each/report.html" || wrong "$each/report.html names the database of the unfinished case"
		"$json_schema" "$schema" "$each/case.json" >why 2>&1 || wrong "$each/case.json is not as its schema has it: $(tail -n 3 why)"
	done
}

kept() { ls cases 2>/dev/null | grep -vc '\.half$' || true; }
forget() { rm -rf cases out err; : >out; }

#!/usr/bin/env bash
# exporter.sh BURSTSCOPE SERVICE LOAD -- burstscope exporter beside LTTng: its counts of a session are those of an
# import of the session's files. A real Prometheus that scrapes it has the same figures, and its alerts fire where an
# app misses its deadlines, and only there (the last two are skipped without prometheus).
set -euo pipefail
. "$(dirname "$0")/../exporting.sh"
burstscope=$1 service=$2 load=$3
command -v curl >/dev/null || { echo 'skipped: curl is not here'; exit 77; }
cd "$tmp"

# ---- failures at the start ----
refuses() # STATUS WORDS ARGUMENT...
{
	local status=0 wanted=$1 words=$2
	shift 2
	"$burstscope" exporter "$@" >out 2>err || status=$?
	((status == wanted)) || wrong "exporter $* ends with $status, not $wanted"
	[[ $(<err) == *"$words"* && $(wc -l <err) == 1 && ! -s out ]] || wrong "exporter $* says: $(<err)"
}
refuses 2 'is not ADDRESS:PORT' --listen somewhere
refuses 4 'none.slo' --slo none.slo
LTTNG_HOME=$tmp/nobody refuses 5 '' --listen 127.0.0.1:0 some-session

# ---- the same counts as an import ----
start_sessiond
make_session it
quietly lttng --no-sessiond start it
start_exporter it
[[ $(curl -s "$url/healthz") == ok ]] || wrong 'it is not healthy'
[[ $(curl -s -o /dev/null -w '%{http_code}' "$url/other") == 404 ]] || wrong 'a page that there is not'
[[ $(curl -s "$url/metrics" | grep -v '^#' | sort | tr '\n' ' ') == burstscope_build_info*' burstscope_events_held_back 0 burstscope_events_total 0 burstscope_late_records_total 0 burstscope_losses_total 0 burstscope_lost_events_total 0 burstscope_lost_packets_total 0 ' ]] ||
	wrong "before any app: $(curl -s "$url/metrics")"
port=${url##*:}
refuses 5 'another program listens there' --listen "127.0.0.1:$port" it
if ((EUID == 0 && $(</proc/sys/net/ipv4/ip_unprivileged_port_start) > 81)) && command -v setpriv >/dev/null; then
	cp "$burstscope" plain_burstscope # in a directory that another user can read
	chmod a+rx . plain_burstscope
	(
		as_plain() { setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/plain_burstscope" "$@"; }
		status=0
		as_plain exporter --listen 127.0.0.1:81 it >out 2>err || status=$?
		((status == 5)) && [[ $(<err) == *'this user may not listen on that port' && $(wc -l <err) == 1 ]]
	) || wrong "a port of root: $(<err)"
fi
"$burstscope" exporter --listen 0.0.0.0:0 --for 100ms it >out 2>err || wrong "all addresses: $(<err)"
grep -q 'other machines' err || wrong "no warning of an address that other machines reach: $(<err)"
mkfifo unread
exec 3<>unread 4>unread 3<&- # 4: a pipe without a reader
"$burstscope" exporter --listen 127.0.0.1:0 --for 100ms it >&4 2>&4 || wrong "the reader of its messages is gone: $?"
exec 4>&-
"$burstscope" exporter --listen 127.0.0.1:0 --for 100ms it >/dev/full 2>&1 || wrong "no room for its messages: $?"
start_service "$service" --lanes 1 --policy fifo # one lane: deadlines are missed
quietly "$load" --socket "$tmp/socket" --duration 500ms --quiet noisy-neighbour
stop_service
quietly lttng --no-sessiond stop it
"$burstscope" import -q -o it.db it
"$burstscope" export --to prometheus it.db >all
same_as_imported all >wanted
counted() { curl -s "$url/metrics" >scraped && same_as_imported scraped | cmp -s - wanted; }
awaits counted "all that an import has"
counted || wrong "it counts otherwise: $(diff <(same_as_imported scraped) wanted | head -5)"
(($(wc -l <wanted) > 100)) || wrong "little to compare: $(wc -l <wanted) lines"
misses() { sed -n 's/^nnburst_deadline_misses_total{.* //p' "$1" | awk '{ n += $1 } END { print n + 0 }'; }
[[ $(misses all) -gt 0 && $(misses all) == "$(misses scraped)" ]] || wrong "$(misses scraped) misses, and $(misses all) in an import"
curl -s -H 'Accept: application/openmetrics-text; version=1.0.0' "$url/metrics" | tail -n 1 | grep -qx '# EOF' || wrong 'OpenMetrics has no end'
if command -v promtool >/dev/null; then
	promtool check metrics <scraped >said 2>&1 || wrong "promtool: $(<said)"
fi
quietly lttng --no-sessiond destroy it
exporter_ended 0

# ---- a session without a switch timer: the page shows that its metrics lag behind ----
quietly lttng --no-sessiond create untimed --output="$tmp/untimed"
quietly lttng --no-sessiond enable-channel --userspace --session=untimed --buffers-uid --subbuf-size=131072 --num-subbuf=4 bursts
quietly lttng --no-sessiond enable-event --userspace --session=untimed --channel=bursts 'nnburst:*'
quietly lttng --no-sessiond start untimed
start_exporter untimed
grep -q 'switch timer' err || wrong "no warning of a session without a switch timer: $(<err)"
awaits 'curl -s "$url/metrics" | grep -qx "burstscope_events_held_back 1"' "the page of a session without a switch timer: $(curl -s "$url/metrics")"
quietly lttng --no-sessiond destroy untimed
exporter_ended 0

# ---- a session with a timer: ended executions count soon, although the service is idle ----
start_exporter
start_service "$service" --lanes 1 --policy fair
quietly "$load" --socket "$tmp/socket" --duration 300ms --quiet noisy-neighbour
executed()
{
	"$service" --status --socket "$tmp/socket" |
		sed -nE 's/^so far: ([0-9]+) burst requests.*/\1/p; s/^([0-9]+) synchronous, ([0-9]+) asynchronous and ([0-9]+) fenced.*/\1\n\2\n\3/p' |
		awk '{ n += $1 } END { print n }'
}
exported() { curl -s "$url/metrics" | awk '/^nnburst_executions_total/ { n += $NF } END { print n + 0 }'; }
executions=$(executed)
((executions > 20)) || wrong "the service executed only $executions"
awaits '(($(exported) == executions))' "the exporter counts the $executions executions of a service that is idle now: $(exported)"
stop_service

# ---- a signal stops it, or the death of the session daemon ----
"$burstscope" exporter --listen 127.0.0.1:0 --for 1s 2>second || wrong "two exporters at once: $(<second)"
kill -9 "$sessiond"
await_end "$sessiond" 'lttng-sessiond is killed' 2>/dev/null || true
sessiond=
awaits 'grep -q "a session was made anew" err' 'it records again, with a session daemon of its own'
(($(exported) == executions)) || wrong "$(exported) executions are counted, not the $executions of before"
[[ $(curl -s "$url/healthz") == ok ]] || wrong "it is not healthy: $(curl -s "$url/healthz")"
reading=$(pgrep -P "$exporter" -f burstscope-importer) || wrong 'no process reads for the exporter'
kill -STOP "$reading" # as if busy: a scrape waits for it, for 5 s at most
curl -s --max-time 1 "$url/metrics" >out && wrong "a process that is stopped answers: $(<out)"
began=$SECONDS
kill "$exporter"
exporter_ended 0
((SECONDS - began < 30)) || wrong "it ends $((SECONDS - began)) s after the signal, beside a process that is stopped"
! lttng --no-sessiond list >out 2>&1 || wrong "the session daemon that it started is left: $(<out)"
start_sessiond

# ---- a real Prometheus ----
if ! command -v prometheus >/dev/null; then
	echo "exporter.sh: $failures wrong; left out: prometheus is not here"
	((failures == 0))
	exit
fi

firing() { [[ $(query 'count(ALERTS{alertstate="firing",severity="page"})') ]]; }

# agree EXPRESSION AWK: Prometheus must answer what AWK computes from the exporter's page. The exporter is a little
# behind the service, and Prometheus behind the exporter, so wait until they agree.
agree()
{
	answer=$(query "$1") expected=$(curl -s "$url/metrics" | awk "$2")
	[[ $answer && $expected ]] && awk -v a="$answer" -v b="$expected" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 < 1e-12) }'
}

# scrapes POLICY DURATION [UNTIL WHAT]: have Prometheus scrape while an app has a noisy neighbour, for DURATION or
# until UNTIL holds. An alert must be seen while its cause goes on, because its short windows are over soon.
scrapes()
{
	start_exporter --slo app.slo
	cat >prometheus.yml <<-EOF
		global: {scrape_interval: 100ms, evaluation_interval: 100ms}
		rule_files: [rules.yml]
		scrape_configs: [{job_name: burstscope, static_configs: [{targets: ["127.0.0.1:${url##*:}"]}]}]
	EOF
	start_prometheus
	awaits '[[ $(query "up") == 1 ]]' 'Prometheus scrapes'
	start_another "$service" --lanes 1 --policy "$1"
	"$load" --socket "$tmp/socket" --duration "$2" --quiet noisy-neighbour >load.out 2>&1 &
	neighbours=$!
	if [[ ${3-} ]]; then
		awaits "$3" "$4"
		kill "$neighbours" 2>/dev/null || true
	fi
	await_end "$neighbours" 'the load ends' || true
	stop_service
}

stopped()
{
	stop_prometheus
	kill "$exporter"
	exporter_ended 0
}

# The alert pages when 60 % of the deadlines are missed: fifo makes nearly all of them late here, and fair few,
# whatever other work the machine has.
printf 'miss ratio of app=well-behaved <= 10 %%\n' >app.slo
"$burstscope" export --to rules --slo app.slo --scale 600 -o rules.yml
scrapes fifo 16s 'firing' 'an alert, where a neighbour makes an app late'
awaits 'agree "sum(nnburst_executions_total)" "/^nnburst_executions_total/ { n += \$NF } END { print n + 0 }"' \
	"Prometheus has as many executions as the exporter's page"
awaits 'agree "sum(nnburst_deadline_misses_total) / sum(nnburst_deadlines_total)" \
	"/^nnburst_deadline_misses_total/ { m += \$NF } /^nnburst_deadlines_total/ { d += \$NF } END { if (d) printf \"%.17g\", m / d }"' \
	"Prometheus has the same ratio of missed deadlines as the exporter's page"
stopped

scrapes fair 3s
! firing || wrong "an alert under fair: $(curl -s "$answers/api/v1/alerts")"
(($(query 'sum(nnburst_executions_total)') > 10)) || wrong 'little ran under fair'
stopped

echo "exporter.sh: $failures wrong"
((failures == 0))

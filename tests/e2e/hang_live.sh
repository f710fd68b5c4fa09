#!/usr/bin/env bash
# hang_live.sh BURSTSCOPE SERVICE LOAD -- who looks on while a service hangs sees that: burstscope exporter at detail full has for how
# long a service with requests has been silent, and the alert of docs/metrics.md fires in a real Prometheus (left out without one).
# A service that is idle, or whose client is stopped, is not silent, and another service that goes on does not hide one that hangs.
set -euo pipefail
. "$(dirname "$0")/../exporting.sh"
burstscope=$1 service=$2 load=$3
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
command -v curl >/dev/null || { echo 'skipped: curl is not here'; exit 77; }
cd "$tmp"
export LC_ALL=C.UTF-8 LTTNG_APP_SOCKET_TIMEOUT=1 # so long LTTng waits for a service that does not answer

scenario crowd '{"name": "crowd", "duration": "600s", "apps": [
	{"name": "cam", "streams": [{"name": "f", "model": "mobilenet-96", "priority": "high", "deadline": "1s", "period": "5ms"}]}]}'

# value METRIC: whole seconds, on the page as it is now; nothing: the page does not have it.
value() { curl -s "$url/metrics" | sed -nE "s/^$1 (-?[0-9]+).*/\1/p"; }
silent() { value nnburst_service_silent_seconds; }
quiet() { value burstscope_quiet_seconds; }
# stays CONDITION SECONDS WHAT
stays()
{
	local until=$((SECONDS + $2))
	while ((SECONDS < until)); do
		eval "$1" || { wrong "${BASH_LINENO[0]}: $3"; return; }
		sleep 0.1
	done
}
is_calm() { [[ $(silent) == 0 ]]; }

start_sessiond
start_service "$service" --lanes 1

# ---- compact, the default: that nothing happens is all that is known ----
start_exporter
quietly "$load" --quiet --socket "$tmp/socket" --duration 300ms "$tmp/crowd.json"
awaits '[[ $(quiet) == [2-9] ]]' 'it is quiet after the load'
[[ ! $(silent) ]] || wrong "compact events show a silent service: $(silent)"
kill "$exporter"
exporter_ended 0

# ---- an idle service, a stopped client, and a service that goes on beside ----
start_exporter --detail full
sed -n '/^<!-- silent alert -->$/,/^$/p' "$docs/metrics.md" | sed 's/^    //; /^<!--/d' >silent.yml # the text between the mark and an empty line
[[ $(<silent.yml) == *nnburst_service_silent_seconds* ]] || wrong "docs/metrics.md has no such alert: $(<silent.yml)"
if command -v prometheus >/dev/null; then
	cat >prometheus.yml <<-EOF
		global: {scrape_interval: 100ms, evaluation_interval: 100ms}
		rule_files: [silent.yml]
		scrape_configs: [{job_name: burstscope, static_configs: [{targets: ["127.0.0.1:${url##*:}"]}]}]
	EOF
	start_prometheus
	awaits '[[ $(query "up") == 1 ]]' 'Prometheus scrapes'
fi
fires() { [[ ! $prometheus || $(query 'count(ALERTS{alertname="BurstscopeServiceSilent",alertstate="firing"})') ]]; }
fired() { [[ $prometheus && $(query 'count_over_time(ALERTS{alertname="BurstscopeServiceSilent"}[1h])') ]]; }

begin_load crowd
goes_on "$service"
awaits is_calm 'the page has a service that answers'
stays is_calm 1 'a service that answers is silent'
kill -STOP "$load_pid" $(pgrep -P "$load_pid")
awaits '[[ $(quiet) == [2-9] ]]' 'no event of a stopped client, or of its service'
is_calm || wrong "the service of a stopped client is silent for $(silent) s"
kill -CONT "$load_pid" $(pgrep -P "$load_pid")
end_load
awaits '[[ $(quiet) == [3-9] ]]' 'an idle service emits nothing'
is_calm || wrong "an idle service is silent for $(silent) s"
# A request that ends a long idleness: the silence begins with the request.
quietly "$load" --quiet --socket "$tmp/socket" --duration 300ms "$tmp/crowd.json" &
once=$!
stays is_calm 2 'a service that was idle before is silent'
await_end "$once" 'the short load ends' || true
! fired || wrong 'the alert was there before anything hung'

"$service" --socket "$tmp/other" --app-identity pid --lanes 1 &
other=$!
awaits '[[ -S $tmp/other ]]' 'another service begins'
begin_load crowd "$tmp/other"
other_load=$load_pid
begin_load crowd
goes_on "$service"
stays is_calm 1 'two services that answer are silent'
kill -STOP "$daemon"
awaits '(($(silent) >= 2))' "the page has a silent service: $(silent)"
[[ $(quiet) == 0 ]] || wrong "the other service is quiet for $(quiet) s"
awaits fires 'the alert fires'
kill -CONT "$daemon"
awaits is_calm 'the service goes on'
awaits '! fires || [[ ! $prometheus ]]' 'the alert ends'
end_load
load_pid=$other_load
end_load
kill "$other"
await_end "$other" 'the other service ends' || wrong 'the other service does not end well'
[[ ! $prometheus ]] || stop_prometheus
kill "$exporter"
exporter_ended 0
stop_service || wrong 'nnburstd does not end well'

echo "hang_live.sh: $failures wrong"
((failures == 0))

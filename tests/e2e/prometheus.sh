#!/usr/bin/env bash
# prometheus.sh BURSTSCOPE SERVICE LOAD PROMQL -- a real Prometheus scrapes burstscope exporter during each shipped
# scenario of nnburst-load: its percentiles, ratios of missed deadlines and shares are those of an import of the same
# session. PROMQL compares them.
set -euo pipefail
. "$(dirname "$0")/../exporting.sh"
burstscope=$1 service=$2 load=$3 promql=$4
for tool in curl prometheus python3; do
	command -v "$tool" >/dev/null || { echo "skipped: $tool is not here"; exit 77; }
done
cd "$tmp"
length=${NNB_SCENARIO_LENGTH:-300ms}

# counts_all SCENARIO: wait until the exporter has counted what the import counts, and Prometheus what the exporter
# counts.
counts_all()
{
	curl -s "$url/metrics" >scraped && same_as_imported scraped | cmp -s - wanted &&
		[[ $(query "sum(nnburst_executions_total{scenario=\"$1\"})") == "$(awk '/^nnburst_executions_total/ { n += $NF } END { print n }' scraped)" ]]
}

# Prometheus takes five seconds to scrape a target that is added later, so all exporters start before it.
scenarios=${NNB_SCENARIOS:-$("$load" --list | awk '{ print $1 }')}
printf 'global: {scrape_interval: 100ms}\nscrape_configs:\n- job_name: burstscope\n  static_configs:\n' >prometheus.yml
start_sessiond
declare -A urls exporters
for scenario in $scenarios; do
	session=${scenario//[^a-z]/_}
	make_session "$session"
	start_exporter "$session"
	urls[$scenario]=$url exporters[$scenario]=$exporter
	all_exporters+=" $exporter"
	printf '  - {targets: ["%s"], labels: {scenario: "%s"}}\n' "${url#http://}" "$scenario" >>prometheus.yml
done
start_prometheus

for scenario in $scenarios; do
	session=${scenario//[^a-z]/_} url=${urls[$scenario]} exporter=${exporters[$scenario]}
	quietly lttng --no-sessiond start "$session"
	awaits '[[ $(query "up{scenario=\"$scenario\"}") == 1 ]]' "Prometheus scrapes $scenario"
	start_another "$service" --lanes 1 --policy fifo
	"$load" --socket "$tmp/socket" --duration "$length" --quiet "$scenario" >load.out 2>&1 || true # its status is its own verdict, which does not matter here
	stop_service
	quietly lttng --no-sessiond stop "$session"
	"$burstscope" import -q -o "$session.db" "$session"
	"$burstscope" export --to prometheus "$session.db" >all
	same_as_imported all >wanted
	awaits 'counts_all "$scenario"' "Prometheus has all of $scenario"
	counts_all "$scenario" || diff <(same_as_imported scraped) wanted | head -5
	"$promql" "http://$answers" "$scenario" "$session.db" || wrong "$scenario: $promql ended with $?"
	quietly lttng --no-sessiond destroy --no-wait "$session"
	exporter_ended 0
done
stop_prometheus

echo "prometheus.sh: $failures wrong of $(wc -w <<<"$scenarios") scenarios"
((failures == 0))

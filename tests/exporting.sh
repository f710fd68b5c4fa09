# exporting.sh -- sourced: recording.sh, burstscope exporter, and a Prometheus that scrapes it.
. "$(dirname "${BASH_SOURCE[0]}")/recording.sh"
exporter= prometheus=
trap 'stop_jobs; kill -9 $exporter ${all_exporters-} $prometheus 2>/dev/null || true; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

# start_exporter ARGUMENT...: $burstscope exporter in the background; $url is where it listens.
start_exporter()
{
	: >err
	"$burstscope" exporter --listen 127.0.0.1:0 "$@" 2>err &
	exporter=$!
	awaits 'url=$(sed -nE "s|.*(http://[^/]*)/metrics.*|\1|p" err); [[ $url ]]' "exporter $* begins: $(<err)"
}

exporter_ended() # STATUS
{
	local status=0
	await_end "$exporter" "line ${BASH_LINENO[0]}: the exporter ends" || status=$?
	exporter=
	((status == $1)) || wrong "${BASH_LINENO[0]}: it ends with $status, not $1: $(<err)"
}

# make_session NAME: an LTTng session that would record into $tmp/NAME, at full detail, flushed every 10 ms.
make_session()
{
	quietly lttng --no-sessiond create "$1" --output="$tmp/$1"
	quietly lttng --no-sessiond enable-channel --userspace --session="$1" --buffers-uid --subbuf-size=4096 --num-subbuf=2 --switch-timer=100000 metadata
	quietly lttng --no-sessiond enable-channel --userspace --session="$1" --buffers-uid --discard --subbuf-size=131072 --num-subbuf=64 \
		--switch-timer=10000 bursts
	quietly lttng --no-sessiond enable-event --userspace --session="$1" --channel=bursts 'nnburst:*' --loglevel=DEBUG_FUNCTION
}

# The metrics of an exporter that are those of an import when the session has ended. Not the causes of misses, which are found at once by
# the exporter, nor what is known in the end alone: windows and waits that are not over.
same_as_imported() { grep -E '^nnburst_(executions|execution_duration|phase_duration|deadlines|deadline_outcomes|preemptions|slot)' "$1" | sort; }

# start_prometheus: with ./prometheus.yml; $answers is where it answers.
start_prometheus()
{
	rm -rf data
	: >prometheus.log
	prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:0 >prometheus.log 2>&1 &
	prometheus=$!
	awaits 'answers=$(sed -nE "s/.*address=(127.0.0.1:[1-9][0-9]*).*/\1/p" prometheus.log | head -n 1); [[ $answers ]]' 'Prometheus listens'
}

stop_prometheus()
{
	kill "$prometheus"
	await_end "$prometheus" 'Prometheus ends' || true
	prometheus=
}

# query EXPRESSION: the value that Prometheus has now; nothing if it has none.
query() { curl -s --data-urlencode "query=$1" "$answers/api/v1/query" | sed -nE 's/.*"value":\[[^,]*,"([^"]*)"\].*/\1/p'; }

#!/usr/bin/env bash
# watch_cycles.sh BURSTSCOPE SERVICE LOAD -- a watcher that keeps case after case, and watchers that come and go: the file descriptors and the memory of
# the watcher, those of LTTng's daemons, sessions, triggers, and files in /dev/shm are as many in the end as in the beginning.
#
# $NNB_CYCLES cases (4), and a fifth as many watchers and recorders; or, with $NNB_SOAK_SECONDS, as many of them as there is time for. A case takes
# half a second of one cpu, most of it for the page: with more than a hundred of them, there is a watcher for each cpu.
set -euo pipefail
burstscope=$1 service=$2 load=$3 json_schema= schema=
. "$(dirname "$0")/../watching.sh"
cycles=${NNB_CYCLES:-4} seconds=${NNB_SOAK_SECONDS:-0}
others=$((cycles > 100 ? $(nproc) - 1 : 0)) other_watchers=()
unset XDG_RUNTIME_DIR
trap 'stop_all; for pid in "${other_watchers[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
	stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

lines() { cat out others.*.out 2>/dev/null | wc -l || true; } # there may be no others
fds_of() { ls "/proc/$1/fd" | wc -l; }
memory_of() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
daemons() { echo "$sessiond"; pgrep -P "$(pgrep -d , -P "$sessiond")" lttng-consumerd 2>/dev/null || pgrep -P "$sessiond" lttng-consumerd || true; }
all_fds() { local pid n=0; for pid in $(daemons); do n=$((n + $(fds_of "$pid"))); done; echo "$n"; }
shared() { ls /dev/shm | wc -l; }
sessions() { lttng --no-sessiond list 2>/dev/null | grep -c burstscope- || true; }
triggers() { lttng --no-sessiond list-triggers 2>/dev/null | grep -c 'name: burstscope-' || true; }

# more N WANTED SHARE: is there to be another one after N, in the first SHARE percent of the time?
more() { if ((seconds)); then ((SECONDS * 100 < seconds * $3)) || (($1 < 4)); else (($1 < $2)); fi; }

# settles WHAT COMMAND BEFORE: no more than before; daemons take a moment to close what is over.
settles() { awaits "((\$($2) <= $3))" "$1: $($2) of $3"; }

start_sessiond
start_service "$service" --lanes 1

# missing: work that misses its deadlines, begun anew before it ends by itself.
missing()
{
	((SECONDS - missing_since < 40)) && kill -0 "$apps" 2>/dev/null && return
	no_more
	miss
	missing_since=$SECONDS
}
missing_since=-100 apps=

# ---- watchers, case after case ----

catching=(--on miss --before 100ms --after 10ms --cooldown 0s --keep 5 --max-disk 20M --buffer 256K --min-free 1M)
missing
watches "$burstscope" "${catching[@]}"
for ((i = 0; i < others; i++)); do
	env --default-signal=INT,TERM,HUP "$burstscope" watch -o "others.$i" "${catching[@]}" >"others.$i.out" 2>"others.$i.err" &
	other_watchers+=($!)
done
awaits '(($(wc -l <out) >= 3))' 'the first cases'
for ((i = 0; i < others; i++)); do awaits "((\$(wc -l <others.$i.out) >= 3))" "the first cases of another watcher: $(<"others.$i.err")"; done
fds=$(fds_of "$watcher") memory=$(memory_of "$watcher") begun=$(lines)
while more $(($(lines) - begun)) "$cycles" 70; do
	missing
	before=$(lines)
	awaits "((\$(lines) > $before))" 'another case'
	((failures == 0)) || break
done
cases=$(lines)
awaits "((\$(fds_of $watcher) <= $fds + 2))" "descriptors of the watcher: $(fds_of "$watcher"), $fds in the beginning" # those of a case being made
(($(memory_of "$watcher") <= memory + 4096)) || wrong "memory of the watcher: $(memory_of "$watcher") KiB, $memory in the beginning"
(($(sessions) == 1 + others && $(triggers) == 1 + others)) || wrong "$((1 + others)) watchers have $(sessions) sessions and $(triggers) triggers"
(($(kept) <= 6 && $(du -sk cases | cut -f 1) <= 24 * 1024)) || wrong "--keep 5 keeps $(kept): $(du -sk cases)"
for ((i = 0; i < others; i++)); do
	kill "${other_watchers[i]}"
	await_end "${other_watchers[i]}" "watcher $i ends" || wrong "watcher $i ends with $?: $(tail -n 5 "others.$i.err")"
	rm -rf "others.$i"
done
other_watchers=()
stopped 0

# ---- watchers and recorders that come and go ----

once()
{
	case $(($1 % 3)) in
	0) "$burstscope" watch -q -o "other$1" --on miss --for 100ms --before 100ms --after 10ms --buffer 256K ;;
	1) "$burstscope" watch -q -o "other$1" --on 'starvation>100ms' --for 100ms --after 10ms --ring 1M --buffer 256K ;;
	2) "$burstscope" record -q --no-import -o "other$1" --for 100ms --detail compact --buffer 256K ;;
	esac >once.out 2>&1 || wrong "run $1 ends with $?: $(<once.out)"
	rm -rf "other$1"
}
missing
for i in 0 1 2; do once $i; done
awaits '(($(sessions) == 0))' 'sessions end'
fds=$(all_fds) files=$(shared) runs=3
while more "$runs" $((3 + cycles / 5)) 95; do
	missing
	once $runs
	runs=$((runs + 1))
	((failures == 0)) || break
done
no_more
settles 'descriptors of the daemons' all_fds "$((fds + 2))"
settles 'files in /dev/shm' shared "$files"
leaves_nothing

echo "counted: $cases cases of $((1 + others)) $( ((others)) && echo watchers || echo watcher)"
echo "counted: $runs watchers and recorders"
((failures == 0))

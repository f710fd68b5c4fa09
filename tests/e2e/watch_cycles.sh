#!/usr/bin/env bash
# watch_cycles.sh BURSTSCOPE SERVICE LOAD -- short cycles beside a permanent watcher: after each 500 of them the file
# descriptors of LTTng's daemons, of the service and of the permanent watcher, the watcher's memory, sessions,
# triggers, and files in /dev/shm are as many as in the beginning.
#
# A cycle is a watcher: its session and trigger, a miss, the case of it, the removal of older cases (--keep or
# --max-disk), its end. Of twenty cycles one is a watcher that reads a ring, with a rule that fails, and one is a
# recording without a case.
#
# $NNB_CYCLES cycles (3, one of each kind), or as many as there is time for in $NNB_SOAK_SECONDS. With
# $NNB_CYCLES_COUNT, the name of a file, several runs add up to $NNB_CYCLES: the file has a line for each 500 cycles
# without a leak, and the next run goes on from there.
set -euo pipefail
burstscope=$1 service=$2 load=$3 json_schema= schema=
. "$(dirname "$0")/../watching.sh"
cycles=${NNB_CYCLES:-3} seconds=${NNB_SOAK_SECONDS:-0} counts=/dev/null
[[ ! ${NNB_CYCLES-} ]] || counts=${NNB_CYCLES_COUNT:-/dev/null}
long=$((cycles > 100)) loops=$((cycles > 100 ? 3 * $(nproc) : 3)) loop_pids=()
unset XDG_RUNTIME_DIR
trap 'stop_jobs; for pid in "${loop_pids[@]}"; do kill -9 -- "-$pid" 2>/dev/null || true; done
	stop_all; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

fds_of() { ls "/proc/$1/fd" | wc -l; }
memory_of() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
consumers() { pgrep -P "$(pgrep -d , -P "$sessiond")" lttng-consumerd 2>/dev/null || pgrep -P "$sessiond" lttng-consumerd || true; }
daemon_fds() { local pid n=0; for pid in "$sessiond" $(consumers); do n=$((n + $(fds_of "$pid"))); done; echo "$n"; }
service_fds() { fds_of "$daemon"; }
watcher_fds() { fds_of "$watcher"; }
shared() { ls /dev/shm | wc -l; }
sessions() { lttng --no-sessiond list 2>/dev/null | grep -c burstscope- || true; }
triggers() { lttng --no-sessiond list-triggers 2>/dev/null | grep -c 'name: burstscope-' || true; }
is_over() { ((seconds)) && ((SECONDS * 100 > seconds * 95)); }

# settles WHAT COMMAND MOST: wait until COMMAND prints MOST at most, because daemons take a moment to close things.
settles() { awaits "((\$($2) <= $3))" "$1: $($2) of $3"; }

# missing: run work that misses its deadlines; start it again before it ends by itself.
missing()
{
	((SECONDS - missing_since < 40)) && kill -0 "$apps" 2>/dev/null && return
	no_more
	miss
	missing_since=$SECONDS
}
missing_since=-100 apps=

# ---- cycles ----

# cycle LOOP N: run a cycle in a directory of its own; each second loop has room for two cases.
cycle()
{
	local limits=(--keep 5 --max-disk 20M) common=(--before 100ms --after 10ms --cooldown 0s --buffer 256K --min-free 1M --stop-after 1)

	((${1} % 2)) || limits=(--keep 50 --max-disk 4M)
	case $((($1 + $2) % 20)) in
	1) timeout --foreground 120 "$burstscope" watch -q -o "loop.$1" --on 'miss ratio <= 1 %' --window 1s --ring 1M "${common[@]}" "${limits[@]}" ;;
	2) timeout --foreground 120 "$burstscope" record -q --no-import -o "loop.$1.recorded" --for 100ms --detail compact --buffer 256K && rm -rf "loop.$1.recorded" ;;
	*) timeout --foreground 120 "$burstscope" watch -q -o "loop.$1" --on miss "${common[@]}" "${limits[@]}" ;;
	esac >"loop.$1.out" 2>&1
}

# caught LOOP N: the watcher must print which case it kept, and its cause.
caught() { (((($1 + $2) % 20) == 2)) || { grep -q "/loop\.$1/" "loop.$1.out" && ! grep -q 'not explained' "loop.$1.out"; }; }

# run_loop LOOP N: run N cycles, and write a line to loop.LOOP.done for each.
run_loop()
{
	local i status

	for ((i = 0; i < $2; i++)); do
		status=0
		cycle "$1" "$i" || status=$?
		if ((status)) || ! caught "$1" "$i"; then
			echo "cycle $i ends with $status: $(tail -n 5 "loop.$1.out")" >"loop.$1.failed"
			return
		fi
		echo "$i" >>"loop.$1.done"
		! is_over || return 0
	done
}

# run_cycles N: run them in all loops at once; $ran is how many were done.
run_cycles()
{
	local i pid

	rm -f loop.*.done
	for ((i = 0; i < loops; i++)); do mkdir -p "loop.$i"; done
	loop_pids=()
	set -m # each loop is a group of processes, so that all of it can be ended
	for ((i = 0; i < loops; i++)); do
		run_loop "$i" $((($1 + loops - 1 - i) / loops)) &
		loop_pids+=($!)
	done
	set +m
	for pid in "${loop_pids[@]}"; do
		while kill -0 "$pid" 2>/dev/null; do
			missing
			sleep 0.2
		done
		wait "$pid" || wrong "a loop ends with $?"
	done
	loop_pids=()
	! compgen -G 'loop.*.failed' >/dev/null || wrong "$(head -n 9 loop.*.failed)"
	ran=$(cat loop.*.done 2>/dev/null | wc -l)
}

# nothing_left: check what exists beside the permanent watcher's.
nothing_left()
{
	local i each

	settles 'descriptors of the daemons' daemon_fds $((fds + 2))
	settles 'descriptors of the service' service_fds $((fds_service + 2))
	settles 'descriptors of the watcher that stays' watcher_fds $((fds_watcher + 2)) # two more for a case in progress
	settles 'files in /dev/shm' shared "$files"
	settles 'sessions' sessions 1
	settles 'triggers' triggers 1
	(($(memory_of "$watcher") <= memory + 4096)) || wrong "memory of the watcher that stays: $(memory_of "$watcher") KiB, $memory in the beginning"
	(($(kept) <= 6 && $(du -sk cases | cut -f 1) <= 24 * 1024)) || wrong "--keep 5 keeps $(kept): $(du -sk cases)"
	for ((i = 0; i < loops; i++)); do
		each=$(ls "loop.$i" | wc -l)
		((each <= 5 && $(du -sk "loop.$i" | cut -f 1) <= (i % 2 ? 24 : 5) * 1024)) || wrong "loop $i has $each cases: $(du -sk "loop.$i")"
	done
}

# figures: print one line.
figures()
{
	local cpu
	times >times.out # in another process the times would be that process's
	cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4 }' times.out)
	echo "$ran cycles: descriptors $(daemon_fds) ($fds), of the service $(service_fds) ($fds_service), of the watcher $(watcher_fds) ($fds_watcher);" \
		"/dev/shm $(shared) ($files); KiB of the watcher $(memory_of "$watcher") ($memory), lttng-sessiond $(memory_of "$sessiond")," \
		"nnburstd $(memory_of "$daemon"); $(wc -l <out) cases of the watcher; $SECONDS s, $cpu s of cpu"
}

start_sessiond
start_service "$service" --lanes 1
missing

# A case each second at most, or every other second beside many cycles.
watches "$burstscope" --on miss --before "$((long ? 4000 : 2000))ms" --after 10ms --cooldown 0s --keep 5 --max-disk 20M --buffer 256K --min-free 1M
awaits '(($(wc -l <out) >= 3))' 'the first cases'
run_cycles $((long ? 3 * loops : loops))
fds=$(daemon_fds) fds_service=$(service_fds) fds_watcher=$(watcher_fds) files=$(shared) memory=$(memory_of "$watcher")

before=$(awk '/ cycles: / { n += $1 } /^complete/ { n = 0 } END { print n + 0 }' "$counts" 2>/dev/null || echo 0)
total=0
while ((failures == 0 && before + total < cycles)) && ! is_over; do
	left=$((cycles - before - total))
	begun=$(wc -l <out)
	run_cycles $((left < 500 ? left : 500))
	awaits "((\$(wc -l <out) > $begun))" 'a case of the watcher that stays'
	nothing_left
	((failures == 0)) || break
	figures >figures.out
	tee -a "$counts" <figures.out
	total=$((total + ran))
done
((failures || before + total < cycles)) || echo "complete: $cycles" >>"$counts"
no_more
stopped 0

echo "counted: $total cycles"
echo "counted: $(wc -l <out) cases of the watcher that stays"
((failures == 0))

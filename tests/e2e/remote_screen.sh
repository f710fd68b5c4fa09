#!/usr/bin/env bash
# remote_screen.sh BURSTSCOPE SERVICE LOAD -- burstscope top on a terminal, in tmux, of another host's session at a
# relay daemon: keys, a relay that dies and comes back, a session that ends; at the end the terminal is as before.
set -euo pipefail
command -v tmux >/dev/null || { echo 'skipped: no tmux'; exit 77; }
burstscope=$(realpath "$1") service=$(realpath "$2") load=$(realpath "$3")
. "$(dirname "$0")/../relay.sh"
apps=
trap 'stop_jobs; tmux -L remote kill-server 2>/dev/null || true; [[ ! $apps ]] || kill $apps 2>/dev/null || true; stop_relay || true
	stop_service || true; stop_sessiond; ip netns del relay 2>/dev/null || true; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TMUX_TMPDIR=$tmp
unset TMUX NO_COLOR COLUMNS
cd "$tmp"
url=net://$relay_at/host/$(uname -n)/far

shown() { tmux -L remote capture-pane -pJ 2>/dev/null || true; }
shows() { awaits "[[ \$(shown | tr -s '[:space:]' ' ') == *'$1'* ]]" "$1"; } # a sentence may be on two lines

recorded()
{
	live_session far NOTICE exec_client exec_service
	quietly lttng --no-sessiond start far
}

scenario two '{"name": "two", "duration": "60s", "apps": [
	{"name": "punctual", "streams": [{"name": "short", "model": "keyword", "period": "10ms"}]},
	{"name": "tardy", "streams": [{"name": "late", "model": "keyword", "period": "20ms", "deadline": "1us"}]}]}'
start_relay
start_sessiond
recorded
start_another "$service"
"$load" --socket "$tmp/socket" --quiet "$tmp/two.json" >load.out 2>&1 &
apps=$!
tmux -L remote -f /dev/null new-session -d -x 120 -y 24 "stty -g >before; env TERM=tmux-256color $burstscope top --url $url
	echo ended \$?; stty -g >after; cmp before after && echo as it was; exec sleep 1000"
shows EXEC/S
quietly lttng --no-sessiond regenerate statedump --session=far # services and apps emit their state again
for words in "session far of host $(uname -n) at net://" punctual tardy submitted_late 'no event lost' 'age '; do
	shows "$words"
done
tmux -L remote send-keys a
shows 'app punctual alone'
tmux -L remote send-keys s
shows 'nothing to save here'
stop_relay -KILL
shows "has gone, and nothing is read"
quietly lttng --no-sessiond destroy --no-wait far
start_relay
recorded
shows 'the relay is there again: nothing was read for'
quietly lttng --no-sessiond destroy far
shows "session far of host $(uname -n) has ended"
[[ $(shown) == *EXEC/S* ]] || wrong "the last figures are gone: $(shown)"
tmux -L remote send-keys q
shows 'in all, of 1 of 2 apps:'
shows 'not exact: it had begun before it was read, or the relay was gone, or it ended unread'
shows 'ended 0'
shows 'as it was'
tmux -L remote kill-server
exit $((failures > 0))

#!/usr/bin/env bash
# mutate_schedule.sh TREE [PART...] -- the tests of the schedule notice when it is broken. The unchanged one has to pass them; then
# it, or one of those parts, is broken in each of the ways below, and each time some test has to fail. CC is the compiler. All of
# it takes minutes: without parts it does nothing but in a long soak.
. "$(dirname "$0")/../rules/rule.sh"

tree=${1:?TREE}
fold=$tree/analyzer/fold
parts='device lanes losses schedule shares steps waits'
of=" ${*:2} "
[[ $of != '  ' || ${NNB_MUTANTS-} ]] || { echo 'skipped: a part of a long ./run soak, or with NNB_MUTANTS=1'; exit 77; }
unset NNB_SOAK_SECONDS # how long the tests take is theirs
tests='test_schedule test_schedule_oracle test_schedule_lossy test_schedule_hostile'
wants "${CC:=cc}"
scratch

compile() # compile SOURCE OBJECT
{
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -DSEEDS=2500 -I"$tree/analyzer" -I"$tree/tests" -c -o "$2" "$1"
}

# fails: some test does; who is in $who.
fails()
{
	for who in $tests; do
		"$CC" -o "$tmp/test" "$tmp/$who.o" "$tmp"/schedule_*.o "$tmp"/part_*.o -lcmocka || return 0
		timeout 60 "$tmp/test" >"$tmp/said" 2>&1 || return 0
	done
	return 1
}

# mutant PART WHAT SED: the part is changed so; some test has to fail.
mutant()
{
	[[ $of == '  ' || $of == *" $1 "* ]] || return 0
	sed -E "$3" "$fold/$1.c" >"$tmp/$1.c"
	if cmp -s "$fold/$1.c" "$tmp/$1.c"; then
		broken "cannot make it so: $2"
	elif ! compile "$tmp/$1.c" "$tmp/part_$1.o"; then
		broken "does not build: $2"
	elif fails; then
		printf 'caught  %s  by %s: %s\n' "$2" "$who" "$(sed -n 's/^\[  FAILED  \] //p' "$tmp/said" | head -1)"
		caught=$((caught + 1))
	else
		broken "nobody missed: $2"
	fi
	compile "$fold/$1.c" "$tmp/part_$1.o"
}

caught=0
for source in $tests schedule_facts schedule_world; do
	compile "$tree/tests/unit/$source.c" "$tmp/$source.o"
done
for part in $parts; do
	compile "$fold/$part.c" "$tmp/part_$part.o"
done
! fails || { cat "$tmp/said"; broken 'the unchanged schedule fails'; judged; }

# within FUNCTION SED: where.
within() { printf '/^[a-z].*[ *]%s\\(/,/^}/{%s}' "$1" "$2"; }

mutant steps 'steps of one time are taken as noted'      's/\(uint64_t\)rank << RANK_SHIFT \| //'
mutant steps 'of one kind and time the last is first'    's/q->serial\+\+/(1u << 30) - q->serial++/'
mutant steps 'a run is not kept in order'                "$(within add_to_run 's/earlier\(noted, /false \&\& &/')"
mutant steps 'a run passes one too few'                  "$(within add_to_run 's/size_t i = run->n\+\+; i > place/size_t i = run->n++; i > place + 1/')"
mutant steps 'what does not fit a run is put at its end' "$(within add_to_run 's/return 1;/break;/')"
mutant steps 'the heap goes by its left side'            's/heap->n \&\& earlier\(&heap->all\[down \+ 1\]/heap->n \&\& false \&\& earlier(\&heap->all[down + 1]/'
mutant steps 'the heap is not looked at'                 "$(within find_earliest 's/begins_with\(q, BSA_RANKS.*/;/')"
mutant losses 'a loss has no end'                        "$(within before 's/ended < at/ended <= at/')"
mutant losses 'a loss swallowed by another shortens it'  's/ended > ended \? l->spans\[over\].ended/ended > ended ? ended/'
mutant losses 'of too many losses half are dropped'      's/l->spans\[2 \* i \+ 1\].ended/l->spans[2 * i].ended/'
mutant lanes 'idle times before a loss count'            "$(within nobody_is_certain 's/ \&\& !bsa_device_unsure\(d, l->since, at\)//')"
mutant lanes 'a lost stretch counts'                     "$(within holder_is_certain 's/l->holder->counted \|\|/true ||/')"
mutant lanes 'those that are counted are lost too'       "$(within holder_is_certain 's/l->holder->counted \|\|//')"
mutant lanes 'a lane is idle before anything is known'   "$(within nobody_is_certain 's/l->known != BSA_NEVER \&\& //'); $(within close_stretch 's/l->known = at/l->known = 0/')"
mutant lanes 'who was on it before is believed'          's/l->doubtful = x->uncertain.*/;/'
mutant lanes 'history is dropped too early'              "$(within drop_old 's/<= oldest/<= oldest + 1/')"
mutant lanes 'history is never dropped'                  "$(within drop_old 's/<= oldest/< 0/')"
mutant lanes 'what was forgotten was idle'               "$(within forget 's/l->known = .*;//')"
mutant lanes 'a wait has parts without end'              's/l->n - w.next > BSA_HISTORY_OF_A_WAIT/false/'
mutant lanes 'the history is searched one too far'       "$(within find 's/ended <= at/ended <= at + 1/')"
mutant lanes 'the history is searched one too near'      "$(within find 's/ended <= at/ended + 1 <= at/')"
mutant lanes 'stretches are not cut at the end of a wait' "$(within step 's/ret->ended < w->to \? ret->ended : w->to/ret->ended/')"
mutant lanes 'stretches are not cut at the beginning'    "$(within step 's/ret->began = w->at;//')"
mutant lanes 'neighbouring unknown parts stay apart'     "$(within bsa_lane_next 's/extend\(w, ret\)/;/')"
mutant lanes 'whoever ends after a loss frees the lane'  "$(within bsa_lane_leave 's/l->doubtful = gone/;/')"
mutant lanes 'a ring grows in the wrong order'           "$(within grow 's/\*nth\(l, i\)/l->ring[i]/')"
mutant waits 'waits of no length are no idle ones'       "$(within was_idle 's/w->x->ready_since == w->at/false/')"
mutant waits 'a wait is idle if it ends so'              "$(within was_idle 's/return bsa_lane_next.*/return bsa_lane_is_idle(w->d, l, w->at);/')"
mutant waits 'the own app is another one'                's/s->tenant != t/true/'
mutant waits 'equal priority is inverted'                's/s->level < level \? BSA_INVERSION/s->level <= level ? BSA_INVERSION/'
mutant waits 'nobody hogs'                               's/s->hogging \? BSA_HOGGED/false ? BSA_HOGGED/'
mutant waits 'inversions of a step count'                's/inverted.dur > s.step_ns/inverted.dur >= s.step_ns/'
mutant waits 'inversions by other apps count'            's/ \&\& s.tenant == w->x->tenant//'
mutant waits 'inversions on the first lane alone count'  "$(within tell_of_the_whole 's/i < w->d->lanes_room/i < 1/')"
mutant waits 'inversions that are over are missed'       's/t->on\[p\] \|\| t->last_on\[p\] > x->ready_since/t->on[p]/'
mutant waits 'inversions that go on are missed'          's/t->on\[p\] \|\| t->last_on/t->last_on/'
mutant waits 'the threshold itself is starvation'        's/> w->d->starvation_ns/>= w->d->starvation_ns/'
mutant waits 'blame is carried on'                       "$(within forget_blamed 's/blamed_ns = 0/blamed_ns += 0/')"
mutant waits 'the least culprit is on top'               's/t->blamed_ns < starved.top_culprit_ns \|\|/starved.top_culprit_ns \&\& t->blamed_ns > starved.top_culprit_ns ||/'
mutant waits 'the last of equal culprits is on top'      's/t->app > starved.top_culprit_app/t->app < starved.top_culprit_app/'
mutant waits 'idle time is interference'                 's/if \(s->occupancy != BSA_HELD\)/if (!s->tenant)/; s/return pairs_add\(w->pairs, s->tenant->app/return pairs_add(w->pairs, w->x->tenant->app/'
mutant waits 'interference has a direction'              "$(within pairs_add 's/\{ .by = by, .app = app \}/{ .by = app, .app = by }/')"
mutant waits 'pairs are lost when there are many'        "$(within pairs_grow 's/= p->table\[i\];/= (struct bsa_interfered){ 0 };/')"
mutant waits 'those of the same time are bypassed'       's/down->ready_since >= at/down->ready_since > at/; s/up->ready_since < at/up->ready_since <= at/; s/down->next->ready_since >= at/down->next->ready_since > at/'
mutant waits 'more priority bypasses too'                "$(within bsa_waits_bypass 's/same \? x->level : 0/0/')"
mutant waits 'only the first is bypassed'                "$(within last_before 's/return up/return down/')"
mutant waits 'who leaves the middle takes its counts along' 's/x->prev->pending \+= x->pending/;/'
mutant waits 'who leaves the head leaves its counts'     's/level->total -= x->pending/;/'
mutant waits 'counts are read from the wrong end'        "$(within bypassed 's/return up \? below : level->total - above/return below/')"
mutant waits 'in one wait all of them are counted'       's/.bypassed = x->pending/.bypassed = x->bypassed/'
mutant waits 'lost ones are chosen from'                 "$(within bsa_waits_doubt 's/doubt_level\(d, .*/;/')"
mutant waits 'those that come in a loss are chosen from' "$(within bsa_waits_add 's/if \(!x->counted.*/if (false)/')"
mutant waits 'those that are counted are doubted too'    "$(within doubt_level 's/if \(x->counted\)/if (false)/')"
mutant waits 'the last of a level is passed over'        "$(within ready_at 's/level->head/level->tail/; s/x = x->next/x = x->prev/')"
mutant waits 'who comes later is passed over'            "$(within ready_at 's/x \&\& x->ready_since <= at/x/')"
mutant waits 'nobody could have had another lane'        "$(within ready_at 's/!\*skip/true/')"
mutant waits 'the lowest is passed over'                 's/int p = BSA_LEVEL_UNKNOWN - 1; p >= 0; p--/int p = 0; p < BSA_LEVEL_UNKNOWN; p++/'
mutant waits 'every choice is honoured'                  's/chosen.honoured = .*/chosen.honoured = true;/'
mutant waits 'the oldest is forgotten'                   "$(within bsa_waits_oldest 's/x->ready_since < oldest \?/x->ready_since > oldest ?/')"
mutant shares 'lags go on after doing nothing'           "$(within restart_lag 's/t->lag = 0;//')"
mutant shares 'an app that has all at once more begins anew' "$(within changed 's/else if \(!t->closing\)/else if (!t->closing \&\& (close_down(t), false))/')"
mutant shares 'nobody is capped'                         "$(within set_rates 's/cap > share/true/')"
mutant shares 'what one does not use is lost'            's/lanes -= cap/lanes -= share/'
mutant shares 'rates are never set anew'                 "$(within changed 's/d->dirty = true;//'); $(within open_up 's/d->dirty = true;//'); $(within close_down 's/d->dirty = true;//')"
mutant shares 'one lane fewer than apps is enough'       's/d->n_backlogged >= d->n_running/d->n_backlogged + 1 >= d->n_running/'
mutant shares 'what is handed over is not had'           "$(within bsa_shares_handed 's/receive\(t, 0, ns\);//')"
mutant shares 'what is handed over is not shared'        "$(within share_equally 's/d->equal \+= .*/;/'); $(within share_by_need 's/receive\(.*;/;/')"
mutant shares 'what is handed over is shared by all alike' "$(within bsa_shares_handed 's/n >= d->n_running/true/')"
mutant shares 'those that are gone share it too'         "$(within bsa_shares_handed 's/n -= .*/;/'); $(within share_equally 's/t->equal = d->equal;/;/')"
mutant shares 'it is shared before it is had'            "$(within bsa_shares_handed '/receive\(t, 0, ns\);/d; s/share_by_need\(d, ns\);/{ share_by_need(d, ns); } receive(t, 0, ns);/')"
mutant shares 'a lag is the largest when one next looks' 's/t->running \? t->device->now : t->device->rose/t->device->now/'
mutant shares 'ready ones have no use for a lane'        's/\(\(bsa_parts\)t->ready \+ t->running\)/((bsa_parts)t->running)/'
mutant shares 'the largest lag is the last'              "$(within receive 's/if \(t->lag > t->window_lag\)$/if (true)/')"
mutant shares 'lags of windows begin at their end'       "$(within receive 's/if \(!t->looked \|\| t->lag > t->window_lag\)/if (!t->looked)/; 0,/t->window_lag = t->lag;/s//t->window_lag = INT64_MIN;/')"
mutant shares 'the largest lag is the last of equals'    's/t->lag > t->max_lag/t->lag >= t->max_lag/'
mutant shares 'windows are not cut'                      "$(within pass 's/to < d->window_ended \&\& to > d->now/to > d->now/')"
mutant shares 'windows of doing nothing are kept'        "$(within skip 's/tell_window\(d\);/;/')"
mutant shares 'who has left a window is in it'           "$(within tell_window 's/if \(t->backlogged\)/if (true)/')"
mutant shares 'lost time counts'                         "$(within pass_losses 's/enter_loss\(d\);/;/; s/skip\(d, s->ended > d->now.*/pass(d, s->ended > d->now ? s->ended : d->now);/')"
mutant shares 'lags go on after a loss'                  "$(within leave_loss 's/restart_lag\(.*;//')"
mutant shares 'after a loss they hog as before'          "$(within leave_loss 's/doubtful = true/doubtful = false/')"
mutant shares 'in a loss they hog as before'             "$(within is_haunted 's/d->in_loss \|\| //')"
mutant shares 'ghosts in the queue do not matter'        "$(within is_haunted 's/ \|\| d->doubtful//')"
mutant shares 'ghosts on lanes do not matter'            "$(within is_haunted 's/i < d->lanes_room/i < 0/')"
mutant shares 'who was on a lane unseen does not matter' "$(within bsa_shares_hogs 's/ \|\| t->lag_from < d->unseen_until//')"
mutant shares 'a step is not allowed for'                's/t->lag < -\(bsa_parts\)step_ns \* BSA_PARTS/t->lag < 0/'
mutant shares 'a whole step is hogging'                  's/t->lag < -\(bsa_parts\)step_ns/t->lag <= -(bsa_parts)step_ns/'
mutant shares 'parts are cut, not rounded'               's/BSA_PARTS \/ 2/0/g'
mutant shares 'time may be quiet for ever'               "$(within too_quiet 's/return d->n_backlogged/return false \&\& d->n_backlogged/')"
mutant schedule 'before a loss nobody is in doubt'       "$(within bsa_schedule_loss 's/before < began \? began - before : 0/began/')"
mutant waits 'who is of no known app is bypassed'        "$(within bsa_waits_bypass 's/!t->app \|\| //; s/ \&\& x->tenant->app;/;/')"
mutant waits 'who is of no known app bypasses'           "$(within bsa_waits_bypass 's/ \&\& x->tenant->app;/;/')"
mutant schedule 'a choice is made when the thread is awake' "$(within given_at 's/return .*/return UINT64_MAX - 1;/')"
mutant schedule 'a wait for a lane that is none is lost' "$(within take_absurd 's/if \(entered\)/if (false)/')"
mutant schedule 'late steps change nothing before'       "$(within doubt_late 's/bsa_lane_doubt_past\(.*/;/')"
mutant schedule 'END comes after READY'                  's/\[BSA_STEP_END\] = BSA_RANK_LEAVE/[BSA_STEP_END] = BSA_RANK_ENTER/'
mutant schedule 'steps of one execution change places'   "$(within rank_of 's/x->last_rank > rank/false/')"
mutant schedule 'due steps wait for one more'            "$(within bsa_schedule_advance 's/steps, known\)/steps, known - 1)/')"
mutant schedule 'steps to come are kept without end'     "$(within note 's/s->steps.n < BSA_STEPS_MAX \?/true ?/')"
mutant schedule 'a slice of one stretch is told'         's/x->stretches > 1\)/true)/'
mutant schedule 'a slice before a stop is not told'      "$(within leave 's/if \(stopped \|\| /if (/')"
mutant schedule 'uncertain slices are told'              "$(within leave 's/if \(certain\)$/if (true)/')"
mutant schedule 'an idle wait before a stop is lost'     "$(within leave 's/bsa_waits_tell_idle\(.*;/;/')"
mutant schedule 'an idle wait of who is lost is lost'    "$(within lose_holder 's/bsa_waits_tell_idle\(.*;/;/')"
mutant schedule 'an idle wait of who dies is lost'       "$(within end_waiting 's/bsa_waits_tell_idle\(.*;/;/')"
mutant schedule 'a wait over a loss off a lane is believed' "$(within end_wait_on 's/ \|\| \(stopped \&\& is_hidden\(.*\)\)\)/)/')"
mutant schedule 'a wait over a loss before giving up is believed' "$(within end_stopped 's/!is_hidden\(.*\)\)/true)/')"
mutant schedule 'whoever gives up frees its old lane'    "$(within leave_unknown 's/ \|\| \(hidden \&\& !stopped\)//')"
mutant schedule 'he that goes on bypasses'               "$(within end_wait_on 's/!stopped \&\& !resumed/true/')"
mutant schedule 'who does not get a lane waited for the last' "$(within end_waiting 's/d->now, 0, d->lanes_room \? .d->lanes\[0\] : NULL/d->now, d->lanes_room - 1, \&d->lanes[d->lanes_room - 1]/')"
mutant schedule 'refused while a lane is free: wait'     "$(within take_refused 's/!late \&\& !any_is_idle\(d, at\)/!late/')"
mutant schedule 'refusals wait for a second free lane'   "$(within leave 's/tell_refusals\(.*;/;/')"
mutant schedule 'who has a lane in doubt is told to the refused' "$(within take_refused 's/bsa_lane_is_held\(d, l, at\)/l->holder/')"
mutant schedule 'what was taken late is believed'        "$(within take 's/return late \&\& step != BSA_STEP_FORGET \? .* : /return /')"
mutant schedule 'who runs is not counted'                "$(within take_enter 's/bsa_shares_running\(.*;/;/'); $(within leave 's/bsa_shares_running\(.*;/;/'); $(within lose_holder 's/bsa_shares_running\(.*;/;/')"
mutant schedule 'rules free lanes that are held'         "$(within take_rules 's/if \(d->lanes\[i\].known == BSA_NEVER\)//')"
mutant schedule 'a new service is not idle'              "$(within take_rules 's/doubt_lane\(.*;/;/')"
mutant schedule 'a lane that is none is one'             "$(within is_absurd 's/lane >= BSA_LANES_MAX \&\& lane != BSA_LANE_NATIVE/false/'); s/lane < BSA_LANES_MAX \&\& say_lane/say_lane/"
mutant schedule 'what is over can go on'                 "$(within is_absurd 's/return true;/return false;/')"
mutant schedule 'forgotten ones still wait'              "$(within lose 's/end_wait\(d, x\);/;/')"
mutant device 'apps are mixed up'                        "$(within bsa_device_tenant 's/t->app == app\)/true)/')"
mutant device 'apps are lost when there are many'        "$(within table_grows 's/\*to = t;/;/')"

judged "$caught broken schedules caught"

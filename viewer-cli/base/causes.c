/* causes.c -- the table of causes and their texts. */
#include "base/causes.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *name, *brief, *says, *miss, *overhead;
} causes[] = {
	{ "too_big", "its run alone is too long",
	  "a usual run of its model alone takes longer than its budget",
	  "because its run alone is longer than its budget", NULL },
	{ "too_tight", "too little time",
	  "the time from its submission to its deadline was shorter than it usually takes",
	  "because less time was left to its deadline when it was submitted than it usually takes", NULL },
	{ "submitted_late", "submitted too late",
	  "at its submission, less time was left to its deadline than its model takes at best",
	  "submitted too late: less time was left to its deadline than the model takes at best", NULL },
	{ "queued_behind", "waiting for work of its own app",
	  "it waited while its own app held the lane, for work of the same or a higher priority",
	  "waiting for @, of the same app and of the same or a higher priority",
	  "waiting for work of the same app, of the same or a higher priority" },
	{ "inversion", "waiting for less urgent work of its own app",
	  "it waited while its own app held the lane, for less urgent work",
	  "waiting for @, of the same app and less urgent",
	  "waiting for less urgent work of the same app" },
	{ "crowded_out", "waiting for another app",
	  "it waited while another app held the lane",
	  "waiting while @ held the lane, within its share",
	  "waiting for other apps that held the lane within their share" },
	{ "overbooked", "too much queued by its own app, and by others",
	  "the service refused it: its own app had queued more work than its deadline left time for, and so had others",
	  "refused because its own app had queued more work than its deadline left time for, and so had others", NULL },
	{ "hogged", "waiting for an app beyond its share",
	  "it waited while another app, already over its share, held the lane",
	  "waiting while @ held the lane beyond its share",
	  "waiting for other apps that held the lane beyond their share" },
	{ "preempted", "preempted",
	  "it was preempted, and others held its lane",
	  "preempted for @",
	  "preempted, off the lane unfinished" },
	{ "stalled", "its thread could not use its lane",
	  "its thread waited for a page of its app's memory (on probation: or for a cpu), and lost its lane",
	  "off the lane, because its thread waited for a page of its app's memory (on probation: or for a cpu)",
	  "off the lane, because their threads waited for pages of their apps' memory (on probation: or for a cpu)" },
	{ "stopped", "the service stood still",
	  "the service was stopped, or had no cpu: it emitted nothing, and read no request, and then went on",
	  "because the service stood still: it was stopped, or had no cpu, and then went on", NULL },
	{ "redo", "repeating work after a preemption",
	  "it had to repeat work that it had done before a preemption",
	  "repeating work that it had done before it was preempted for @",
	  "repeating work done before a preemption" },
	{ "handover", "its thread was not awake when the lane was idle",
	  "the lane was idle, but the start on it took long",
	  "ready while the lane was idle and its thread in the service was not yet awake",
	  "ready while the lane was idle and its thread in the service was not yet awake" },
	{ "cold", "memory that the service did not know yet",
	  "the service did not know its memory yet, and fetched, mapped and touched it for the first time",
	  "fetching and mapping slots that the service did not know",
	  "fetching and mapping slots that the service did not know" },
	{ "woken_late", "the receiver of a message was woken late",
	  "the receiver of a message was asleep, and took long to wake up",
	  "waiting for the receiver of a message, which was asleep and had to be woken",
	  "waking receivers of messages, which were asleep" },
	{ "polled_late", "the receiver of a message read it late",
	  "the receiver of a message was awake, and took long to read it",
	  "waiting for the receiver of a message, which was awake and late",
	  "passing messages to receivers that were awake" },
	{ "queue_full", "a full queue",
	  "a queue had no room for its message",
	  "waiting for room in a queue",
	  "waiting for room in a queue" },
	{ "slow_compute", "its run took more cpu time",
	  "its run took more cpu time than usual",
	  "in a run that took more cpu time than usual", NULL },
	{ "off_core", "its run was on no cpu",
	  "its run was on a lane, but not on a cpu",
	  "in a run whose thread was on no cpu, and had not asked for one", NULL },
	{ "long_run", "its run took longer",
	  "its run took longer than usual; whether it computed or slept was not recorded",
	  "in a run that took longer than usual (whether it computed or slept was not recorded)", NULL },
	{ "machine_busy", "no cpu for its thread",
	  "its thread in the service was ready to run, but other threads held all cpus",
	  "waiting for a cpu: its thread in the service was ready and had none",
	  "in the service, ready to run and on no cpu" },
	{ "service", "the service took longer",
	  "the service took long before or after the run",
	  "in the service, which took longer than usual before or after the run",
	  "in the service, before and after the run" },
	{ "client", "the app took longer",
	  "the client took long, before it sent the request or after it received the answer",
	  "in the client, which took longer than usual",
	  "in the client, before the request and after the answer" },
	{ "dependency", "waiting for its fences",
	  "it waited for its fences",
	  "waiting for its fences",
	  "waiting for fences" },
	{ "bad_estimate", "refused by a wrong estimate",
	  "the service refused it, although it would have met its deadline behind all work queued then",
	  "refused by a wrong estimate: all work queued before them finished early enough", NULL },
	{ "unknown", "not known",
	  "what was recorded does not show the cause",
	  "for a reason that the recording does not show",
	  "on unrecorded work" },
};
/* clang-format on */

enum { N_CAUSES = sizeof(causes) / sizeof(*causes) };

static size_t cause_index(const char *cause)
{
	size_t i = 0;

	while (i < N_CAUSES && strcmp(causes[i].name, cause))
		i++;
	return i;
}

const char *bsv_cause_name(size_t i)
{
	return i < N_CAUSES ? causes[i].name : NULL;
}

const char *bsv_cause_brief(const char *cause)
{
	size_t i = cause_index(cause);

	return i < N_CAUSES ? causes[i].brief : cause;
}

const char *bsv_cause_text(const char *cause)
{
	size_t i = cause_index(cause);

	return i < N_CAUSES ? causes[i].says : "";
}

const char *bsv_cause_of_miss(const char *cause, bool shares_known)
{
	size_t i = cause_index(cause);

	if (!shares_known && !strcmp(cause, "crowded_out"))
		return "waiting while @ held the lane";
	return i < N_CAUSES ? causes[i].miss : NULL;
}

char *bsv_cause_with_culprit(const char *phrase, const char *culprit)
{
	const char *at = strchr(phrase, '@');
	char *text = NULL;

	if (!at)
		return strdup(phrase);
	if (!culprit)
		culprit = strstr(at, "of the same app") ? "work that is not known" : "another app";
	return asprintf(&text, "%.*s%s%s", (int)(at - phrase), phrase, culprit, at + 1) < 0 ? NULL : text;
}

const char *bsv_cause_of_overhead(const char *cause, bool shares_known)
{
	size_t i = cause_index(cause);

	if (!shares_known && !strcmp(cause, "crowded_out"))
		return "waiting for other apps that held the lane";
	return i < N_CAUSES ? causes[i].overhead : NULL;
}

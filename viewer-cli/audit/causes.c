/* causes.c -- the table of causes and their texts. */
#include "audit/causes.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *name, *says, *miss, *overhead;
} causes[] = {
	{ "too_big", "the model's own run, as it usually is, takes longer than there was time",
	  "because its run alone is longer than its budget", NULL },
	{ "too_tight", "from when it was submitted to its deadline there was less time than it usually takes",
	  "because less time was left to its deadline when it was submitted than it usually takes", NULL },
	{ "submitted_late", "when it was submitted, less time was left to its deadline than its model takes at best",
	  "submitted too late: less time was left to its deadline than the model takes at best", NULL },
	{ "queued_behind", "it waited while its own app had the lane, for something of the same or a higher priority",
	  "waiting for @, of the same app and of the same or a higher priority",
	  "waiting for work of the same app, of the same or a higher priority" },
	{ "inversion", "it waited while its own app had the lane, for something less important",
	  "waiting for @, of the same app and less urgent",
	  "waiting for less urgent work of the same app" },
	{ "crowded_out", "it waited while another app had the lane",
	  "waiting for @, which had no more than its share",
	  "waiting for other apps, which had no more than their share" },
	{ "hogged", "it waited while another app had the lane that had had more than its share already",
	  "because @ held the lane beyond its share",
	  "waiting for other apps that held the lane beyond their share" },
	{ "preempted", "it was taken off its lane, and others were on it",
	  "preempted for @",
	  "preempted, off the lane unfinished" },
	{ "redo", "it had to do work again that was done before it was taken off its lane",
	  "doing again what it had done before it was preempted for @",
	  "doing again what was done before a preemption" },
	{ "handover", "the lane was free, and it took long to get going on it",
	  "ready while the lane was idle, and not yet awake",
	  "ready while the lane was idle, and not yet awake" },
	{ "cold", "the service did not know its memory yet: it was fetched, mapped and touched for the first time",
	  "fetching and mapping slots that the service did not know",
	  "fetching and mapping slots that the service did not know" },
	{ "woken_late", "who was to take the message slept, and took long to wake up",
	  "because the receiver of a message was asleep and had to be woken",
	  "waking receivers of messages, which were asleep" },
	{ "polled_late", "who was to take the message was awake, and took long",
	  "because the receiver of a message was awake, and late",
	  "passing messages to receivers that were awake" },
	{ "queue_full", "there was no room in the queue",
	  "because there was no room in a queue for its message",
	  "waiting for room in a queue" },
	{ "slow_compute", "it computed for longer than it usually does",
	  "because its run took longer than usual, on the cpu", NULL },
	{ "off_core", "it was on its lane, but not on a cpu",
	  "because it was taken off the cpu in the middle of its run", NULL },
	{ "machine_busy", "its thread in the service was ready to run, and no cpu ran it: others had them all",
	  "because its thread in the service was ready and had no cpu",
	  "in the service, ready to run and on no cpu" },
	{ "service", "the service took long before or after the run",
	  "because the service took longer than usual with what is not the run",
	  "in the service, before and after the run" },
	{ "client", "the app's side took long, before it sent or after it had the answer",
	  "because the client took longer than usual",
	  "in the client, before it asks and after it is answered" },
	{ "dependency", "it waited for its fences",
	  "waiting for its fences",
	  "waiting for fences" },
	{ "bad_estimate", "it was refused although it would have been in time, behind all that were queued then",
	  "refused, though all that were queued before them were done early enough: the estimate was wrong", NULL },
	{ "unknown", "what took the time was not recorded, and nothing is guessed",
	  "of which too little was recorded to say why",
	  "on what was not recorded" },
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

const char *bsv_cause_says(const char *cause)
{
	size_t i = cause_index(cause);

	return i < N_CAUSES ? causes[i].says : "";
}

const char *bsv_cause_of_miss(const char *cause)
{
	size_t i = cause_index(cause);

	return i < N_CAUSES ? causes[i].miss : NULL;
}

const char *bsv_cause_of_overhead(const char *cause)
{
	size_t i = cause_index(cause);

	return i < N_CAUSES ? causes[i].overhead : NULL;
}

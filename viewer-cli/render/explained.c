/* explained.c -- prints what an execution was, and what to ask next. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/letters.h"
#include "base/numbers.h"
#include "render/explained_own.h"

enum { NAME_MOST = 40, NAME_BYTES = 200, WHO_BYTES = 480 };

/* ---- texts ---- */

void bsv_explained_print(const struct bsv_drawing *d, int paint, const char *format, ...)
{
	char text[2 * BSV_TEXT_MOST], *safe;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	safe = bsv_printable(text, strlen(text), 0);
	fputs(bsv_paint_on(d->screen, paint), d->to);
	bsv_wrap(d->to, d->screen, 2, safe ? safe : "?");
	fputs(bsv_paint_off(d->screen, paint), d->to);
	free(safe);
}

/* A stranger's name, as it may be shown. */
static void who_name(char to[BSV_TEXT_MOST], const char *s)
{
	char *text = bsv_printable(s, strlen(s), NAME_MOST);

	snprintf(to, BSV_TEXT_MOST, "%s", text ? text : "?");
	free(text);
}

/* "mobilenet of camera, high", as far as it is known; "" for an unknown execution. */
static void who_text(char to[BSV_TEXT_MOST], const struct bsv_who *who)
{
	char app[BSV_TEXT_MOST] = "an unknown app", model[BSV_TEXT_MOST] = "";

	*to = 0;
	if (!who->app && !who->model)
		return;
	if (who->app)
		who_name(app, who->app);
	if (who->model)
		who_name(model, who->model);
	snprintf(to, BSV_TEXT_MOST, "%.*s%s%.*s%s%s", bsv_cut(model, NAME_BYTES), model, *model ? " of " : "",
	         bsv_cut(app, NAME_BYTES), app, who->priority ? ", " : "", who->priority ? who->priority : "");
}

/* "743: mobilenet of camera, high"; "" for an unknown execution. */
void bsv_who_numbered(char to[BSV_TEXT_MOST], const struct bsv_who *who)
{
	char text[BSV_TEXT_MOST];

	who_text(text, who);
	if (who->id > 0)
		snprintf(to, BSV_TEXT_MOST, "%" PRId64 "%s%.*s", who->id, *text ? ": " : "", bsv_cut(text, WHO_BYTES),
		         text);
	else
		snprintf(to, BSV_TEXT_MOST, "%s", text);
}

/* ---- the head ---- */

/* "answered NONE", or how the app's call ended before it was answered. */
static void answer_text(char to[BSV_TEXT_MOST], const struct bsv_explained *x)
{
	char after[BSV_DURATION_TEXT];

	if (!x->status)
		snprintf(to, BSV_TEXT_MOST, "how it was answered is unknown");
	else if (bsv_known(x->left) && bsv_known(x->submitted))
		snprintf(to, BSV_TEXT_MOST,
		         "the app's call failed %s after it began, before the service had answered: %s",
		         bsv_duration(after, bsv_minus(x->left, x->submitted)), x->status);
	else
		snprintf(to, BSV_TEXT_MOST, "answered %s", x->status);
}

void bsv_explained_taken(char to[BSV_TAKEN_TEXT], const struct bsv_explained *x)
{
	int64_t budget = bsv_minus(x->deadline, x->submitted);
	char time[BSV_DURATION_TEXT];

	snprintf(to, BSV_TAKEN_TEXT, "taken %s %s its deadline", bsv_duration(time, budget < 0 ? -budget : budget),
	         budget < 0 ? "after" : "before");
}

static void draw_deadline(const struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char spare[BSV_DURATION_TEXT];

	if (x->miss) {
		char late[BSV_DURATION_TEXT], had[BSV_DURATION_TEXT] = "unknown", budget[BSV_TAKEN_TEXT];
		int64_t by = bsv_known(x->lateness) ? x->lateness : 0;

		if (bsv_known(bsv_minus(x->deadline, x->submitted)))
			bsv_duration(had, bsv_minus(x->deadline, x->submitted));
		snprintf(budget, sizeof(budget), "its budget was %s", had);
		if (bsv_is(x->sides, "service") && bsv_known(bsv_minus(x->deadline, x->submitted)))
			bsv_explained_taken(budget, x);
		bsv_duration(late, by < 0 ? -by : by);
		if (!bsv_known(x->lateness) && bsv_is(x->miss, "late") && bsv_is(x->quality, "open"))
			bsv_explained_print(d, BSV_BAD,
			                    "LATE: past its deadline, and still under way when the recording ended; %s",
			                    budget);
		else if (!bsv_known(x->lateness))
			bsv_explained_print(d, BSV_BAD, "MISSED: given up, when is unknown; %s", budget);
		else if (bsv_is(x->miss, "late") && bsv_known(x->left))
			bsv_explained_print(
				d, BSV_BAD,
				"LATE by %s: the app's call failed then, before the service had answered; %s", late,
				budget);
		else if (bsv_is(x->miss, "late"))
			/* without the event of its end, the lateness is that of the last event */
			bsv_explained_print(d, BSV_BAD, "LATE by %s%s: done after its deadline; %s",
			                    bsv_is(x->sides, "both") &&
			                                    (bsv_is(x->quality, "tail") || bsv_is(x->quality, "open"))
			                            ? "at least "
			                            : "",
			                    late, budget);
		else if (bsv_is(x->miss, "aborted"))
			bsv_explained_print(d, BSV_BAD, "LATE by %s: given up after its deadline; %s", late, budget);
		else if (by >= 0)
			bsv_explained_print(d, BSV_BAD,
			                    "REFUSED before its deadline: it was expected to be late by %s; %s", late,
			                    budget);
		else
			bsv_explained_print(d, BSV_BAD, "REFUSED %s before its deadline; %s", late, budget);
	} else if (!bsv_known(x->deadline))
		bsv_explained_print(d, BSV_PLAIN, "it had no deadline that the service knew of");
	else if (x->status && !bsv_is(x->status, "NONE"))
		bsv_explained_print(d, BSV_UNSURE_PAINT,
		                    "it failed: whether it would have met its deadline is unknown");
	else if (bsv_known(x->e2e) && bsv_known(x->ended) && x->ended <= x->deadline)
		bsv_explained_print(d, BSV_GOOD, "met its deadline, with %s to spare",
		                    bsv_duration(spare, bsv_minus(x->deadline, x->ended)));
	else
		bsv_explained_print(d, BSV_UNSURE_PAINT, "whether it met its deadline is unknown");
}

/* Draw which values are unknown, and why. */
static void draw_quality(const struct bsv_drawing *d)
{
	static const struct {
		const char *quality, *why;
	} whys[] = {
		{ "head", "it began before it was recorded" },
		{ "tail", "its end is missing" },
		{ "gap", "something in the middle of it is missing" },
		{ "open", "it was still under way when the recording ended" },
	};
	const struct bsv_explained *x = d->x;
	const char *why = x->quality ? x->quality : "unknown";

	if (bsv_is(x->sides, "service"))
		bsv_explained_print(d, BSV_UNSURE_PAINT,
		                    "only the service was recorded: what the app saw of it is unknown");
	if (bsv_is(x->sides, "client"))
		bsv_explained_print(d, BSV_UNSURE_PAINT, "only the app was recorded: what the service did is unknown");
	if (bsv_is(x->quality, "complete"))
		return;
	for (size_t i = 0; i < sizeof(whys) / sizeof(*whys); i++)
		if (bsv_is(x->quality, whys[i].quality))
			why = whys[i].why;
	if (bsv_is(x->quality, "tail") && bsv_known(x->left) && !x->losses)
		why = "the app's call failed before it was answered, and the service sent no answer";
	bsv_explained_print(d, BSV_UNSURE_PAINT,
	                    "NOT COMPLETE: %s; phases without a duration are unknown, and nothing is guessed", why);
	if (x->losses > 0)
		bsv_explained_print(d, BSV_UNSURE_PAINT, "%" PRId64 " %s in it in which events were lost", x->losses,
		                    x->losses == 1 ? "interval lies" : "intervals lie");
}

int bsv_explained_draw(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	char who[BSV_TEXT_MOST], exec[BSV_TEXT_MOST] = "", lane[64] = "", answer[BSV_TEXT_MOST];
	char when[BSV_DURATION_TEXT], took[BSV_DURATION_TEXT];
	bool trial = bsv_is(x->path, "prepare");
	int64_t most = 0, culprit = 0, all = trial ? x->run : x->e2e;
	int r;

	/* The execution and its time. */
	who_text(who, &x->who);
	if (x->exec)
		who_name(exec, x->exec);
	bsv_explained_print(&d, BSV_TITLE, "execution %" PRId64 "%s%s%s: %s%s%s%s", x->who.id, *exec ? " (" : "", exec,
	                    *exec ? ")" : "", *who ? who : "of nobody known", x->path ? ", " : "",
	                    trial     ? "trial run of its preparation"
	                    : x->path ? x->path
	                              : "",
	                    x->cold == 1 ? ", cold" : "");
	if (x->n_stretches == 1)
		snprintf(lane, sizeof(lane), ", on lane %" PRId64, x->stretches[0].lane);
	answer_text(answer, x);
	bsv_explained_print(&d, BSV_PLAIN, "%s%s%s; %stook %s%s; %s",
	                    trial                         ? "ready "
	                    : !bsv_known(x->submitted)    ? "first seen "
	                    : bsv_is(x->sides, "service") ? "taken "
	                                                  : "submitted ",
	                    bsv_known(x->began) ? bsv_duration(when, x->began) : "at an unknown time",
	                    bsv_known(x->began) ? " into the recording" : "", trial ? "its run " : "",
	                    bsv_known(all) ? bsv_duration(took, all) : "an unknown time", lane, answer);
	draw_deadline(&d);
	draw_quality(&d);

	/* Where its time went, and why it was late. */
	fputc('\n', to);
	r = bsv_explained_bars(x, to, screen, err);
	if (r >= 0 && x->miss && x->n_causes)
		r = bsv_explained_ledger(x, to, screen, err);
	else if (r >= 0 && x->miss)
		bsv_explained_print(&d, BSV_UNSURE_PAINT, "why it missed its deadline is unknown");
	if (r < 0)
		return r;

	/*
	 * The command to run next: of the culprit of the largest row of the ledger that has one,
	 * otherwise of the longest wait.
	 */
	for (size_t i = 0; i < x->n_causes; i++)
		if (x->causes[i].culprit.id > 0 && bsv_known(x->causes[i].late) && x->causes[i].late > most) {
			most = x->causes[i].late;
			culprit = x->causes[i].culprit.id;
		}
	for (size_t i = 0; i < x->n_waits && !x->n_causes; i++)
		if (x->waits[i].blocker.id > 0 && x->waits[i].dur > most) {
			most = x->waits[i].dur;
			culprit = x->waits[i].blocker.id;
		}
	fputs("\nlook further:\n", to);
	if (culprit)
		fprintf(to, "  burstscope explain %" PRId64 " %s\n", culprit, x->input);
	fprintf(to, "  burstscope timeline --around %" PRId64 " %s\n", x->who.id, x->input);
	return 0;
}

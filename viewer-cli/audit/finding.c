/*
 * finding.c -- keeps the list of findings: adds one, or merges it into the finding that blames the
 * same app for the same; and words certainty, time and next command of each.
 */
#include "audit/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "base/vector.h"

static void finding_fini(struct bsv_finding *of)
{
	free(of->finding);
	free(of->what);
	free(of->evidence);
	free(of->who);
	free(of->culprit);
	free(of->doer);
	free(of->proof);
	free(of->blamed);
}

void bsv_findings_fini(struct bsv_findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		finding_fini(&f->of[i]);
	for (size_t i = 0; i < f->n_doings; i++) {
		free(f->doings[i].name);
		free(f->doings[i].note);
	}
	free(f->doings);
	free(f->of);
}

const char *bsv_finding_advice(const struct bsv_findings *f, const char *cause, const char *path)
{
	return cause ? bsv_advice(&(struct bsv_advised){ .cause = cause, .path = path }, &f->settings) : NULL;
}

char *bsv_finding_when(const struct bsv_finding *of)
{
	const char *unit = of->last_at >= 1000000000 ? "s" : "ms";
	double each = of->last_at >= 1000000000 ? 1e9 : 1e6;
	char first[BSV_DURATION_TEXT], from[32], to[32];

	if (of->first_at == BSV_WHEN_UNKNOWN)
		return strdup("");
	bsv_duration(first, of->first_at);
	if (of->last_at == BSV_WHEN_UNKNOWN || of->first_at == of->last_at)
		return bsv_text("at %s of the recording", first);
	snprintf(from, sizeof(from), "%.3f", (double)of->first_at / each);
	snprintf(to, sizeof(to), "%.3f", (double)of->last_at / each);
	if (!strcmp(from, to))
		return bsv_text("at %s %s of the recording", from, unit);
	return bsv_text("from %s to %s %s of the recording", from, to, unit);
}

const char *bsv_certainty_name(enum bsv_certainty certainty)
{
	static const char *const names[] = { [BSV_LIKELY] = "likely", [BSV_SURE] = "sure" };

	return names[certainty];
}

bool bsv_finding_is_rest(const struct bsv_finding *of)
{
	return !strcmp(of->finding, "others") || !strcmp(of->finding, "several") || !strcmp(of->finding, "untold");
}

void bsv_findings_rest_last(struct bsv_findings *f)
{
	for (size_t i = 1; i < f->n; i++)
		for (size_t k = i; k > 0 && bsv_finding_is_rest(&f->of[k - 1]) && !bsv_finding_is_rest(&f->of[k]);
		     k--) {
			struct bsv_finding swapped = f->of[k];

			f->of[k] = f->of[k - 1];
			f->of[k - 1] = swapped;
		}
}

char *bsv_finding_next(const struct bsv_finding *of)
{
	const int64_t around = 20000000, second = 1000000000;
	int64_t at = of->worst_at ? of->worst_at : of->first_at, from = at > around ? at - around : 0;

	if (of->first_at == BSV_WHEN_UNKNOWN)
		return bsv_text("burstscope %s", of->see);
	return bsv_text("burstscope timeline --from %.3fs --to %.3fs", (double)from / (double)second,
	                (double)(at + 10 * around) / (double)second);
}

char *bsv_finding_fails(const struct bsv_finding *of)
{
	static const struct {
		unsigned bit;
		const char *name;
	} verdicts[] = { { BSV_FAILS_DEADLINES, "deadlines" },
		         { BSV_FAILS_FAIRNESS, "fairness" },
		         { BSV_FAILS_PRIORITY, "priority" },
		         { BSV_FAILS_STARVATION, "starvation" } };
	char text[64] = "";

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++)
		if (of->fails & verdicts[i].bit)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? ", " : "",
			         verdicts[i].name);
	return strdup(text);
}

char *bsv_finding_certainty(const struct bsv_finding *of)
{
	char n[BSV_COUNT_MAX], others[BSV_COUNT_MAX];
	const char *name = bsv_certainty_name(of->certainty);

	if (name && of->certainty != BSV_SURE && of->misses > 0 && of->sure > 0)
		return bsv_text("%s sure, %s likely", bsv_count(n, (uint64_t)of->sure),
		                bsv_count(others, (uint64_t)(of->misses - of->sure)));
	return name ? strdup(name) : NULL;
}

char *bsv_finding_evidence(const struct bsv_finding *of)
{
	const char *evidence = of->evidence ? of->evidence : "";
	char *safe = bsv_printable(evidence, strlen(evidence), 0), *ret = safe ? strdup("") : NULL;

	for (char *at = safe, *end; ret && at && *at; at = end) {
		char *before = ret;
		size_t n;

		end = strstr(at, "; ");
		n = end ? (size_t)(end - at) : strlen(at);
		ret = bsv_text("%s\n- %.*s", before, (int)n, at);
		free(before);
		end = end ? end + strlen("; ") : at + n;
	}
	free(safe);
	return ret;
}

char *bsv_finding_advised(const struct bsv_finding *of)
{
	static const char *const names[] = { "the missed deadlines", "the inversions", "the starvation",
		                             "its own starvation", "the unfair shares" };
	char *ret = strdup("");
	bool same = true;

	for (size_t i = 0; i < BSV_HARMS; i++)
		same &= !(of->harms & 1U << i) || (of->advice && of->against[i] && !strcmp(of->against[i], of->advice));
	if (same) {
		free(ret);
		return strdup(of->advice ? of->advice : "");
	}
	for (size_t i = 0; ret && i < BSV_HARMS; i++)
		if (of->harms & 1U << i && of->against[i]) {
			char *before = ret;

			ret = bsv_text("%s%sAgainst %s: %s", before, *before ? " " : "", names[i], of->against[i]);
			free(before);
		}
	return ret;
}

/* Does an app starve itself that is blamed for what it does to others, or for the order of its own work? */
static bool is_own_starvation(const struct bsv_finding *of, const struct bsv_finding *blamed)
{
	return (blamed->blame == BSV_BLAMES_HOLDER || blamed->blame == BSV_BLAMES_ORDER) &&
	       of->blame == BSV_BLAMES_OWN && !strcmp(of->finding, "starvation");
}

/* Does @list, "camera's frames, gallery", name the app of @who, "gallery's faces"? */
static bool names_app(const char *list, const char *who)
{
	const char *end = strstr(who, "'s ");
	size_t n = end ? (size_t)(end - who) : strlen(who);

	for (const char *at = list; n && (at = strchr(at, *who)); at++)
		if (!strncmp(at, who, n) && (at == list || at[-1] == ' ') && (!at[n] || at[n] == '\'' || at[n] == ','))
			return true;
	return false;
}

/* @apart: of an app that starves others, too. */
static enum bsv_harm harm_of(const struct bsv_finding *of, bool apart)
{
	if (of->misses >= 0)
		return BSV_HARM_DEADLINES;
	if (!strcmp(of->finding, "starvation"))
		return apart ? BSV_HARM_ITSELF : BSV_HARM_STARVATION;
	return !strcmp(of->finding, "unfair") ? BSV_HARM_SHARES : BSV_HARM_ORDER;
}

/* Make @of, which is left without its sentences, evidence of @into. False: no memory. */
static bool finding_merge(struct bsv_finding *into, struct bsv_finding *of)
{
	char *what = of->what, *evidence = of->evidence, *proof = of->proof;
	bool likely = into->misses > 0 && into->one_victim && into->certainty == BSV_LIKELY && !into->sure;
	bool own = of->blame != into->blame;

	of->what = of->evidence = of->proof = NULL;
	into->fails |= of->fails;
	if (!into->harms) {
		enum bsv_harm first = harm_of(into, false);

		into->harms = 1U << first;
		into->against[first] = into->advice;
	}
	if (of->advice && of->blame == into->blame)
		into->advice = of->advice;

	/* Does @of prove what no replay of @into could: that the misses of its only victim could have been met? */
	if (of->saves && likely && into->who && of->who && names_app(into->who, of->who)) {
		if (of->advice) /* so what helps against @of would have met them */
			into->against[harm_of(into, false)] = of->advice;
		free(evidence);
		free(proof);
		return bsv_text_join(&into->proof, what);
	}

	into->harms |= 1U << harm_of(of, own);
	if (!into->against[harm_of(of, own)])
		into->against[harm_of(of, own)] = of->advice;

	/*
	 * Name who suffers by @of with those who suffer by @into; an app that does so to itself
	 * alone is named apart.
	 */
	if (of->who && into->who && !names_app(into->who, of->who) && (!own || is_own_starvation(of, into))) {
		char *both = bsv_text("%s, %s%s", into->who, of->who, own ? " (by itself)" : "");

		if (!both) {
			free(what);
			free(evidence);
			free(proof);
			return false;
		}
		free(into->who);
		into->who = both;
	}
	if (!bsv_text_join(&into->evidence, what)) {
		free(evidence);
		free(proof);
		return false;
	}
	if (evidence && !bsv_text_join(&into->evidence, evidence)) {
		free(proof);
		return false;
	}
	return !proof || bsv_text_join(&into->evidence, proof);
}

int bsv_finding_add(struct bsv_findings *f, struct bsv_finding of, struct bsa_err *err)
{
	bool whole = of.finding && of.what;
	struct bsv_finding *same = NULL; /* the finding that @of is a part of */

	for (size_t i = 0; whole && of.blamed && !same && i < f->n; i++)
		if ((f->of[i].blame == of.blame || is_own_starvation(&of, &f->of[i])) && f->of[i].blamed &&
		    !strcmp(f->of[i].blamed, of.blamed))
			same = &f->of[i];
	if (whole && !same && bsv_array_grow(&f->of, f->n, sizeof(*f->of))) {
		f->of[f->n++] = of;
		return 0;
	}
	whole = same && finding_merge(same, &of);
	finding_fini(&of);
	return whole ? 0 : bsv_no_memory(err);
}

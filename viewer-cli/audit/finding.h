/*
 * finding.h -- adding to the list of findings; only for the files that find something (findings.c, missed.c).
 */
#ifndef BSV_FINDING_H
#define BSV_FINDING_H

#include "audit/findings.h"
#include "base/rows.h"
#include "base/template.h"

enum { BSV_FOUND_OF_A_KIND = 3 }; /* most findings of a kind */

/*
 * Add @of; or make it a part of the finding that blames the same app for the same: its sentence becomes
 * evidence there, and its advice, if it has one, replaces the other. An app that starves itself is a part of the finding that blames it for what it
 * does to others, or for the order of its own work. The list owns all of @of from here on, also after an error.
 */
int bsv_finding_add(struct bsv_findings *f, struct bsv_finding of, struct bsa_err *err);

/* Move what no finding tells behind all findings; otherwise keep the order. */
void bsv_findings_rest_last(struct bsv_findings *f);

/* Advice against the finding @cause; NULL: none is known. */
const char *bsv_finding_advice(const struct bsv_findings *f, const char *cause, const char *path);

/* "noisy's mobilenet"; owned by the caller. NULL: neither is known, or no memory. */
char *bsv_full_name(const char *app, const char *model);

/* Append to *text, which may be NULL, behind "; " if it has text already. False: no memory. @more is freed. */
bool bsv_text_join(char **text, char *more);

#endif

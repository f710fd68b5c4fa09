/*
 * groups.h -- the groups of executions that --by asks for. Cold executions are always apart from warm ones.
 */
#ifndef BSV_GROUPS_H
#define BSV_GROUPS_H

#include "answer/answer.h"

enum bsv_by { BSV_BY_APP = 1, BSV_BY_MODEL = 2, BSV_BY_PRIORITY = 4, BSV_BY_PATH = 8, BSV_BY_BURST = 16 };

enum { BSV_BY_SQL = 1024 };

struct bsv_groups {
	unsigned by;         /* enum bsv_by */
	size_t keys;         /* number of columns that distinguish groups; our queries have them first */
	bool stored;         /* whether each group is one group of phase_stat, so that no execution must be read */
	bool paired;         /* whether a cold and a warm group of phase_stat pair up, too */
	int64_t n, answered; /* number of groups in phase_stat, and of executions in them */
	char kind[64], key[BSV_BY_SQL], names[BSV_BY_SQL], stored_names[BSV_BY_SQL],
		order[256]; /* SQL, see bsv_groups_sql */
};

/* Parse @by, the value of --by; NULL: app, model and path. BSA_E_USAGE: it names an unknown word. */
int bsv_groups_parse(struct bsv_groups *ret, const char *by, struct bsa_err *err);

/*
 * Fill in the rest of @g, which bsv_groups_parse has made, for the recording @input: its SQL, and what phase_stat has
 * of the groups. Call this again for another recording. @g is untouched on failure.
 */
int bsv_groups_read(struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err);

/*
 * @stored, or where groups are not stored @picked, with these placeholders filled: @with@; @phase@ and
 * @value@, the arguments; and
 *
 *   @keys@    the columns of a group: of phase_stat s and apps a; or of execution x, kinds k and
 *             the tables that it joins
 *   @order@   the same columns, for ORDER BY
 *   @who@     the same columns without start, which is cold or warm
 *   @by@      the same columns without start, for ORDER BY
 *   @kinds@   a relation kinds(id, kind, name): models of the same name have the same kind
 *   @key@     a number for each group, of picked p and kinds k
 *   @only@    the further condition on executions p
 *
 * Owned by the caller; NULL: no memory.
 */
char *bsv_groups_sql(const struct bsv_groups *g, const struct bsv_input *input, const char *stored, const char *picked,
                     const char *phase, const char *value);

/* The executions that the user asked about, in a group or not. */
struct bsv_taken {
	int64_t n, incomplete, not_answered, of_service,
		of_client; /* of_service, of_client: number of executions recorded on that side only */
	bool slow;         /* whether reading the executions takes so long that the user should be warned */
};

int bsv_groups_taken(struct bsv_taken *ret, const struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err);

/* Add notes about executions that are in no group, or were recorded on one side only. */
void bsv_groups_remark(struct bsv_answer *a, const struct bsv_groups *g, const struct bsv_taken *taken);

/*
 * Add a note if a group adds up different models: apps may have models of one name, and groups by
 * model alone are of all apps.
 */
int bsv_groups_warn(struct bsv_answer *a, const struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err);

#endif

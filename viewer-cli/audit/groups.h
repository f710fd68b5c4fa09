/*
 * groups.h -- what --by makes of executions: groups, in which cold ones are always apart from warm ones.
 */
#ifndef BSV_GROUPS_H
#define BSV_GROUPS_H

#include "answer/answer.h"

enum bsv_by { BSV_BY_APP = 1, BSV_BY_MODEL = 2, BSV_BY_PRIORITY = 4, BSV_BY_PATH = 8, BSV_BY_BURST = 16 };

enum { BSV_BY_SQL = 1024 };

struct bsv_groups {
	unsigned by;         /* enum bsv_by */
	size_t keys;         /* columns that tell them apart; a query of ours has them first */
	bool stored;         /* each is one of phase_stat: nothing but that has to be looked at */
	bool paired;         /* and so are cold and warm ones together */
	int64_t n, answered; /* groups of phase_stat, and executions in them */
	char kind[64], key[BSV_BY_SQL], names[BSV_BY_SQL], stored_names[BSV_BY_SQL],
		order[256]; /* SQL, see bsv_groups_sql */
};

/* @by is what was said; NULL: app, model and path. BSA_E_USAGE: there is no such group. */
int bsv_groups_read(struct bsv_groups *ret, const char *by, struct bsv_input *input, struct bsa_err *err);

/*
 * @stored, or where groups are not stored @picked, with its holes filled: @with@; @phase@ and @value@, which are given; and
 *
 *   @keys@    the columns of a group: of phase_stat s and apps a; or of execution x, kinds k and what it takes
 *   @order@   by those
 *   @who@     the same columns, but for start, which is cold or warm
 *   @by@      by those
 *   @kinds@   a relation: kinds(id, kind, name), what model.id has in common with others that are called the same
 *   @key@     a number for each group, of picked p and kinds k
 *   @only@    what else must hold of executions p
 *
 * Owned by the caller; NULL: no memory.
 */
char *bsv_groups_sql(const struct bsv_groups *g, const struct bsv_input *input, const char *stored, const char *picked,
                     const char *phase, const char *value);

/* What the user asked about, whether it is in a group or not. */
struct bsv_taken {
	int64_t n, incomplete, not_answered, of_service,
		of_client; /* executions; of_: that one side alone was recorded of */
	bool slow;         /* so many have to be looked at that whoever waits should have asked for it */
};

int bsv_groups_taken(struct bsv_taken *ret, const struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err);

/* Notes about executions that are in no group, or were seen from one side alone, if there are any. */
void bsv_groups_remark(struct bsv_answer *a, const struct bsv_groups *g, const struct bsv_taken *taken);

#endif

/*
 * relations.h -- what there is in a database to ask for.
 */
#ifndef BSV_RELATIONS_H
#define BSV_RELATIONS_H

#include "bsa/db.h"

#include <stdbool.h>

/* BSA_E_USAGE, and the nearest one there is, if @name is no relation. NULL @db: of this version. */
int bsv_relation_check(struct bsa_db *db, const char *name, struct bsa_err *err);

/* Has @relation, which there is, a column @column? */
bool bsv_relation_has(struct bsa_db *db, const char *relation, const char *column);

#endif

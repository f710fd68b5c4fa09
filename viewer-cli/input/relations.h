/*
 * relations.h -- the relations and columns of a database.
 */
#ifndef BSV_RELATIONS_H
#define BSV_RELATIONS_H

#include "bsa/db.h"

#include <stdbool.h>

/* BSA_E_USAGE, with the nearest name, if @name is not a relation. NULL @db: the relations of this version. */
int bsv_relation_check(struct bsa_db *db, const char *name, struct bsa_err *err);

/* Has the existing relation @relation a column @column? */
bool bsv_relation_has(struct bsa_db *db, const char *relation, const char *column);

#endif

/* sql.h -- the .sql files, as strings (embed.c). */
#ifndef BSA_STORE_SQL_H
#define BSA_STORE_SQL_H

extern const char bsa_sql_schema[];  /* tables and views; what they mean */
extern const char bsa_sql_indices[]; /* after loading */
extern const char bsa_sql_execution_index[];
extern const char bsa_sql_misses[];     /* when all misses and their causes are there */
extern const char bsa_sql_names[];      /* when all models are there, before anything is added up by name */
extern const char bsa_sql_parts[];      /* when shares were reported in parts */
extern const char bsa_sql_budgets[];    /* when an execution had less time than any takes */
extern const char bsa_sql_no_indices[]; /* before loading more */

#endif

-- case_held: one row: the end of the last loss that was over at :at; NULL: there was none.
SELECT max(ended) FROM loss WHERE ended <= :at

-- slo_sequence: one row per execution that a rule selects, ordered by number. Leaves out executions that are incomplete or were not answered.
@with@
SELECT @value@ AS value FROM picked WHERE complete AND status = 'NONE' AND (@selection@) ORDER BY id

-- slo_sequence: one row per execution that a rule selects, ordered by number. Leaves out executions that are incomplete or were not answered, or
-- whose path does not have the phase that the rule is about.
@with@
SELECT @value@ AS value FROM picked WHERE complete AND status = 'NONE' AND (@selection@) AND (@has_phase@) ORDER BY id

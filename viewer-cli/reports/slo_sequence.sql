-- slo_sequence: one row per execution that a rule means, in the order of their numbers; leaves out what is not complete or was not answered.
@with@
SELECT @value@ AS value FROM picked WHERE complete AND status = 'NONE' AND (@selection@) ORDER BY id

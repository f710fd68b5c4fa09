-- timeline_silences: one row per service that was silent at the end of the recording though clients waited, in time since :began. What its lanes did then is unknown.
SELECT trace_id * 4096 + instance, began - :began, ended - :began FROM silence WHERE NOT went_on ORDER BY 1, 2

-- verdict_priority_inversions: one row per inversion: its length, what its limit rests on, and whether that is certain. most_ns: the most that the holder's
-- stretch can have been. Where a loss leaves room between both, the inversion is no proof. A row without stretch_ns: n inversions that the import added up.
@with@,
stretches AS MATERIALIZED (@stretches@),
unseen_stops AS MATERIALIZED (@unseen_stops@),
probations AS MATERIALIZED (@probations@),
holders AS MATERIALIZED (
	SELECT h.execution_id, ifnull(s.stretch_ns, 0) + @off_core@ AS stretch_ns, max(ifnull(s.stretch_ns, 0), ifnull(t.ns, 0)) + @off_core@ AS most_ns,
		ifnull(s.known AND h.run_ns IS NOT NULL AND (h.complete OR h.cpu_ns IS NOT NULL), 0) AS known
	FROM involved h LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN unseen_stops t ON t.model_id = h.model_id)
SELECT 1 AS n, i.dur_ns, iif(i.dur_ns > ifnull(h.most_ns, 0) + @slack@, ifnull(h.most_ns, 0), ifnull(h.stretch_ns, 0)) AS stretch_ns,
	@sure@ OR ifnull(h.known, 0) AND (i.dur_ns > h.most_ns + @slack@ OR i.dur_ns <= h.stretch_ns + @slack@) AS sure,
	@inverted_on_probation@ AS on_probation, i.victim_id, i.holder_id
FROM inversion i @only_victims@ LEFT JOIN holders h ON h.execution_id = i.holder_id
UNION ALL
SELECT i.n, i.longest_ns, NULL, @sure@, @lesser_on_probation@, NULL, NULL FROM lesser_inversion i @only_victims@

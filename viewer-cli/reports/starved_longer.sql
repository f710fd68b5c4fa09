-- starved_longer: one row per episode of starvation, by a given threshold, on lanes; for a WITH. From the waits, which are cut where the lane changed
-- hands: waits that touch are one. The number of bypassing executions is known if the execution was off lanes only once, or if the import stored it.
-- Who held the lane for less than 1 % of an episode is no culprit.
SELECT w.execution_id, w.app_id, w.model, w.began, w.gap_ns,
		coalesce((SELECT s.bypassed FROM starvation s WHERE s.execution_id = w.execution_id AND s.began = w.began),
			CASE WHEN w.preemptions = 0 THEN w.bypassed END) AS bypassed,
		iif(w.top_culprit_ns >= w.gap_ns / 100, w.top_culprit_app_id, NULL) AS top_culprit_app_id,
		iif(w.top_culprit_ns >= w.gap_ns / 100, w.top_culprit_ns, NULL) AS top_culprit_ns, w.open
	FROM (
		SELECT execution_id, app_id, model, bypassed, preemptions, began, gap_ns, open, blocker_app_id AS top_culprit_app_id,
			CASE WHEN blocker_app_id IS NOT NULL THEN ns END AS top_culprit_ns,
			row_number() OVER (PARTITION BY execution_id, began ORDER BY blocker_app_id IS NULL, ns DESC, blocker_app_id) AS place
		FROM (
			SELECT execution_id, app_id, model, bypassed, preemptions, blocker_app_id, max(open) AS open, sum(ended - part_began) AS ns,
				min(min(part_began)) OVER (PARTITION BY execution_id, nth) AS began,
				sum(sum(ended - part_began)) OVER (PARTITION BY execution_id, nth) AS gap_ns
			FROM (
				SELECT *, sum(fresh) OVER (PARTITION BY execution_id ORDER BY part_began, ended) AS nth
				FROM (
					SELECT t.execution_id, p.app_id, p.model, p.bypassed, p.preemptions, t.blocker_app_id, t.open, t.began AS part_began, t.ended,
						t.began IS NOT lag(t.ended) OVER (PARTITION BY t.execution_id ORDER BY t.began, t.ended) AS fresh
					FROM picked p CROSS JOIN wait t ON t.execution_id = p.id
					WHERE p.queue_ns + p.preempted_ns > @threshold@ OR p.queue_ns IS NULL OR p.preempted_ns IS NULL))
			GROUP BY execution_id, nth, blocker_app_id)
		WHERE gap_ns > @threshold@)
	w WHERE w.place = 1 AND @on_lanes@

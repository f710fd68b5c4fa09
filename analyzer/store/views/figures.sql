-- inversion, starvation, priority_choice, involved, app_share: one row per inversion, episode, choice, execution that a preemption, inversion or cause names, app. phase_stat, typical, overhead_cause: percentiles and sums, exact, of
-- complete executions that were answered.
CREATE VIEW inversion AS SELECT @columns inversion@ FROM stored_inversion;

CREATE VIEW starvation AS SELECT @columns starvation@ FROM stored_starvation;

CREATE VIEW app_share AS SELECT
	app_id, received_ns, entitled_ns, CASE WHEN entitled_ns > 0 THEN 1.0 * received_ns / entitled_ns END AS ratio, max_lag_ns,
	max_lag_at, most_lag_ns
FROM stored_share;

-- Apps that wait through many windows have one row for all of them (lags.h). A half of a ns is rounded away from 0.
CREATE VIEW app_lag AS
SELECT window_began, app_id, received_ns, entitled_ns, lag_ns, most_ns FROM stored_lag
UNION ALL
SELECT window_began, app_id, 0, entitled_ns, lag_ns + (lag_part + 360360 - (lag_ns + lag_part / 720720 < 0)) / 720720,
	most_ns + (most_part + 360360 - (most_ns + most_part / 720720 < 0)) / 720720
FROM (SELECT w.window_began, r.app_id, w.entitled_ns, r.lag_ns + w.sum_ns AS lag_ns, r.lag_part + w.sum_part AS lag_part,
		r.most_ns + w.sum_ns AS most_ns, r.most_part + w.sum_part AS most_part
	FROM stored_lag_run r CROSS JOIN stored_lag_window w ON w.id BETWEEN r.first_id AND r.last_id);

-- The same rows, without one for each app and window: for queries about many windows.
CREATE VIEW lag_alone AS SELECT @columns lag_alone@ FROM stored_lag;

CREATE VIEW lag_run AS SELECT @columns lag_run@ FROM stored_lag_run;

CREATE VIEW lag_window AS SELECT @columns lag_window@ FROM stored_lag_window;

CREATE VIEW phase_stat AS SELECT @columns phase_stat@ FROM stored_phase_stat;

CREATE VIEW overhead_cause AS SELECT @columns overhead_cause@ FROM stored_overhead;

CREATE VIEW typical AS SELECT @columns typical@ FROM stored_typical;

CREATE VIEW usual_budget AS SELECT @columns usual_budget@ FROM stored_usual_budget;

CREATE VIEW app_slowdown AS SELECT app_id, n, p50 / 10000.0 AS p50, p99 / 10000.0 AS p99 FROM stored_slowdown;

CREATE VIEW execution_count AS SELECT
	c.app_id, coalesce(m.name, '') AS model, @priority c.priority@ AS priority, @path c.path@ AS path, @status c.status@ AS status,
	@miss c.miss@ AS miss, @quality c.quality@ AS quality, @sides c.sides@ AS sides, sum(c.n) AS n, sum(c.deadlines) AS deadlines,
	max(c.worst_ns) AS worst_ns, sum(c.cold) AS cold, sum(c.slots_known) AS slots_known, sum(c.cold_known) AS cold_known,
	sum(c.slot_lookups) AS slot_lookups, sum(c.slot_misses) AS slot_misses
FROM stored_count c LEFT JOIN stored_model m ON m.id = c.model_id
GROUP BY c.app_id, coalesce(m.name, ''), c.priority, c.path, c.status, c.miss, c.quality, c.sides;

CREATE VIEW priority_choice AS SELECT @columns priority_choice@ FROM stored_choice;

CREATE VIEW involved AS SELECT @columns involved@ FROM stored_involved;

-- starvation, priority_choice, app_share: one row per episode, choice, app. phase_stat, typical, overhead_cause: percentiles and sums, exact, of
-- complete executions that were answered.
CREATE VIEW starvation AS SELECT
	execution_id, app_id, began, gap_ns, bypassed, top_culprit_app_id, top_culprit_ns, model_id
FROM stored_starvation;

CREATE VIEW app_share AS SELECT
	app_id, received_ns, entitled_ns, CASE WHEN entitled_ns > 0 THEN 1.0 * received_ns / entitled_ns END AS ratio, max_lag_ns,
	max_lag_at
FROM stored_share;

CREATE VIEW phase_stat AS SELECT
	app_id, model, @priority priority@ AS priority, @path path@ AS path, cold, @figure figure@ AS phase, n, sum_ns, min_ns,
	p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns
FROM stored_phase_stat;

CREATE VIEW overhead_cause AS SELECT
	app_id, model, @priority priority@ AS priority, @path path@ AS path, cold, @cause cause@ AS cause, n, sum_ns
FROM stored_overhead;

CREATE VIEW typical AS SELECT model_id, @path path@ AS path, @phase phase@ AS phase, n, p50_ns, estimated FROM stored_typical;

CREATE VIEW app_slowdown AS SELECT app_id, n, p50 / 10000.0 AS p50, p99 / 10000.0 AS p99 FROM stored_slowdown;

CREATE VIEW execution_count AS SELECT
	c.app_id, coalesce(m.name, '') AS model, @priority c.priority@ AS priority, @path c.path@ AS path, @status c.status@ AS status,
	@miss c.miss@ AS miss, @quality c.quality@ AS quality, @sides c.sides@ AS sides, sum(c.n) AS n, sum(c.deadlines) AS deadlines,
	max(c.worst_ns) AS worst_ns
FROM stored_count c LEFT JOIN stored_model m ON m.id = c.model_id
GROUP BY c.app_id, coalesce(m.name, ''), c.priority, c.path, c.status, c.miss, c.quality, c.sides;

CREATE VIEW priority_choice AS SELECT at, chosen_id, passed_over_id, honoured FROM stored_choice;

INSERT INTO schema_doc VALUES
('priority_choice', '', '', 'time that a lane was given to one of several executions of an app that were ready and of different priority'),
('priority_choice', 'at', 'time', 'of the choice: the lane was free, and the chosen one ready'),
('priority_choice', 'chosen_id', 'id', 'execution.id of who got the lane'),
('priority_choice', 'passed_over_id', 'id', 'execution.id of the first of another priority who did not'),
('priority_choice', 'honoured', '0/1', 'nobody of the app who was ready had a higher priority'),
('starvation', '', '', 'wait of an execution that was longer than 100 ms and than ten times the median run_ns of its model'),
('starvation', 'execution_id', 'id', 'execution.id'),
('starvation', 'app_id', 'id', 'app.id of who waited'),
('starvation', 'began', 'time', 'ready, and without a lane from here on'),
('starvation', 'gap_ns', 'ns', 'so long'),
('starvation', 'bypassed', 'count', 'later arrivals of not higher priority (other apps: any) that were on a lane within it'),
('starvation', 'top_culprit_app_id', 'id', 'app.id of who held the lane longest within it'),
('starvation', 'top_culprit_ns', 'ns', 'so long'),
('starvation', 'model_id', 'id', 'model.id'),
('app_share', '', '', 'app: what it had of the lanes, and what it should have had; time that events were lost in is in neither'),
('app_share', 'app_id', 'id', 'app.id'),
('app_share', 'received_ns', 'ns', 'lane time it had: on it, or being handed to it'),
('app_share', 'entitled_ns', 'ns', 'lane time it should have had: what anybody had, shared evenly among the apps that had use for it'),
('app_share', 'ratio', 'ratio', 'received over entitled'),
('app_share', 'max_lag_ns', 'ns', 'the most that it was behind since it last became backlogged'),
('app_share', 'max_lag_at', 'time', 'when that was; NULL: never'),
('phase_stat', '', '', 'app, model name, priority, path, cold or warm, and phase: exact percentiles (nearest rank) over complete executions whose status is NONE'),
('phase_stat', 'app_id', 'id', 'app.id'),
('phase_stat', 'model', 'text', 'model.name; data from a stranger'),
('phase_stat', 'priority', 'label', 'low, medium, high'),
('phase_stat', 'path', 'label', 'burst, sync, fenced, async'),
('phase_stat', 'cold', '0/1', 'NULL off bursts'),
('phase_stat', 'phase', 'label', 'e2e; overhead: e2e less run without redo; or a phase, as in execution_phase'),
('phase_stat', 'n', 'count', 'executions with this phase known'),
('phase_stat', 'sum_ns', 'ns', 'all of them together'),
('phase_stat', 'min_ns', 'ns', 'the shortest'),
('phase_stat', 'p50_ns', 'ns', 'half are at most so long'),
('phase_stat', 'p90_ns', 'ns', '90 % are at most so long'),
('phase_stat', 'p95_ns', 'ns', '95 % are at most so long'),
('phase_stat', 'p99_ns', 'ns', '99 % are at most so long; with n below 100 that is the longest'),
('phase_stat', 'p999_ns', 'ns', '99.9 % are at most so long'),
('phase_stat', 'max_ns', 'ns', 'the longest'),
('overhead_cause', '', '', 'app, model name, priority, path, cold or warm, and cause of overhead; those of such a group sum to its overhead in phase_stat'),
('overhead_cause', 'app_id', 'id', 'app.id'),
('overhead_cause', 'model', 'text', 'model.name; data from a stranger'),
('overhead_cause', 'priority', 'label', 'low, medium, high'),
('overhead_cause', 'path', 'label', 'burst, sync, fenced, async'),
('overhead_cause', 'cold', '0/1', 'NULL off bursts'),
('overhead_cause', 'cause', 'label', 'queued_behind, inversion, crowded_out, hogged, preempted, redo, handover, cold, woken_late, polled_late, queue_full, service, client, dependency, unknown: as in miss_cause, but all that took, not what is beyond the typical'),
('overhead_cause', 'n', 'count', 'executions with any of it'),
('overhead_cause', 'sum_ns', 'ns', 'all of them together'),
('app_slowdown', '', '', 'app: how much longer its executions took than they ran, e2e_ns over run_ns, of complete ones whose status is NONE'),
('app_slowdown', 'app_id', 'id', 'app.id'),
('app_slowdown', 'n', 'count', 'executions that ran'),
('app_slowdown', 'p50', 'ratio', 'half are at most so slow; cut to four decimals'),
('app_slowdown', 'p99', 'ratio', '99 % are at most so slow; with n below 100 that is the slowest'),
('execution_count', '', '', 'app, model name, priority, path, status, miss, quality and sides of any execution: how many there are'),
('execution_count', 'app_id', 'id', 'app.id'),
('execution_count', 'model', 'text', 'model.name; data from a stranger; empty: unknown'),
('execution_count', 'priority', 'label', 'low, medium, high'),
('execution_count', 'path', 'label', 'burst, sync, fenced, async'),
('execution_count', 'status', 'label', 'the answer, as the HAL calls it'),
('execution_count', 'miss', 'label', 'as in execution'),
('execution_count', 'quality', 'label', 'as in execution'),
('execution_count', 'sides', 'label', 'as in execution'),
('execution_count', 'n', 'count', 'executions'),
('execution_count', 'deadlines', 'count', 'of them, those that had a deadline'),
('execution_count', 'worst_ns', 'ns', 'of misses: the largest lateness_ns'),
('typical', '', '', 'model, path and phase: the median of complete, warm executions that found an idle lane and kept it'),
('typical', 'model_id', 'id', 'model.id'),
('typical', 'path', 'label', 'burst, sync, fenced, async'),
('typical', 'phase', 'label', 'as in execution_phase'),
('typical', 'n', 'count', 'of such executions'),
('typical', 'p50_ns', 'ns', 'half are at most so long'),
('typical', 'estimated', '0/1', 'n is below 5: run is what the service estimated, other phases are 0');

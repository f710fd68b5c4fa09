-- preemption, deadline_miss, refusal, resource_exhausted, miss_cause: one row per event; of miss_cause per execution, cause and culprit.
CREATE VIEW preemption AS SELECT
	execution_id, by_execution_id, asked, stopped, resumed, at_op, @mode mode@ AS mode, redo_ns, lane
FROM stored_preemption;

CREATE VIEW deadline_miss AS SELECT
	execution_id, model_id, at, @miss_kind kind@ AS kind, @stage stage@ AS stage, deadline, estimate_ns, over_ns, trace_id
FROM stored_deadline_miss;

CREATE VIEW refusal AS SELECT execution_id, lane_free, holder_id, holder_app_id, @cause holder_cause@ AS holder_cause
FROM stored_refusal;

CREATE VIEW resource_exhausted AS SELECT
	@owner owner@ AS owner, execution_id,
	coalesce(model_id, (SELECT x.model_id FROM stored_execution x WHERE x.id = e.execution_id)) AS model_id,
	coalesce(app_id, (SELECT x.app_id FROM stored_execution x WHERE x.id = e.execution_id)) AS app_id, at, @resource_kind kind@ AS kind, @resource resource@ AS resource,
	asked, limit_value, owner_id, trace_id
FROM stored_exhausted e;

CREATE VIEW miss_cause AS SELECT
	execution_id, @cause cause@ AS cause, culprit_execution_id, culprit_app_id, budget_ns, late_ns, saved, is_primary
FROM stored_miss_cause;

CREATE VIEW miss_stat AS SELECT
	s.app_id, coalesce(m.name, '') AS model, @priority s.priority@ AS priority, @cause s.cause@ AS cause, sum(s.n) AS n, sum(s.misses) AS misses,
	sum(s.persistent) AS persistent, sum(s.saved) AS saved, sum(s.lost_ns) AS lost_ns, max(s.worst_ns) AS worst_ns,
	sum(s.late_ns) AS late_ns, sum(s.budget_ns) AS budget_ns
FROM stored_miss_stat s LEFT JOIN stored_model m ON m.id = s.model_id
GROUP BY s.app_id, coalesce(m.name, ''), s.priority, s.cause;

CREATE VIEW culprit_stat AS SELECT
	s.app_id, s.culprit_app_id, coalesce(m.name, '') AS culprit_model, @priority s.priority@ AS culprit_priority, @cause s.cause@ AS cause,
	sum(s.misses) AS misses, sum(s.saved) AS saved, sum(s.lost_ns) AS lost_ns
FROM stored_culprit_stat s LEFT JOIN stored_model m ON m.id = s.model_id
GROUP BY s.app_id, s.culprit_app_id, coalesce(m.name, ''), s.priority, s.cause;

INSERT INTO schema_doc VALUES
('preemption', '', '', 'time that an execution was taken off its lane unfinished'),
('preemption', 'execution_id', 'id', 'execution.id'),
('preemption', 'by_execution_id', 'id', 'execution.id of who it was for'),
('preemption', 'asked', 'time', 'it was asked to stop'),
('preemption', 'stopped', 'time', 'it was off its lane'),
('preemption', 'resumed', 'time', 'it was on a lane again; NULL: never, or unknown'),
('preemption', 'at_op', 'number', 'the operation it had come to'),
('preemption', 'mode', 'label', 'save, restart: whether what was done was kept'),
('preemption', 'redo_ns', 'ns', 'of the stretch that ended here, spent on work done before'),
('preemption', 'lane', 'number', 'the one it was taken off'),
('deadline_miss', '', '', 'deadline_miss event: the service said that a deadline was missed, or was going to be'),
('deadline_miss', 'execution_id', 'id', 'execution.id; NULL: a model was prepared'),
('deadline_miss', 'model_id', 'id', 'model.id'),
('deadline_miss', 'at', 'time', 'it was said'),
('deadline_miss', 'kind', 'label', 'transient, persistent, late'),
('deadline_miss', 'stage', 'label', 'prepare, admission, queue, running, done: how far it had come'),
('deadline_miss', 'deadline', 'time', 'the one that was missed'),
('deadline_miss', 'estimate_ns', 'ns', 'what the service thought it would take'),
('deadline_miss', 'over_ns', 'ns', 'by how much it was, or would have been, too late'),
('deadline_miss', 'trace_id', 'id', 'trace.id'),
('refusal', '', '', 'execution that was refused before it was ready, and what it would have met'),
('refusal', 'execution_id', 'id', 'execution.id'),
('refusal', 'lane_free', 'time', 'the first time from the refusal on that a lane was free'),
('refusal', 'holder_id', 'id', 'execution.id of who held lane 0 then; NULL: nobody, or unknown'),
('refusal', 'holder_app_id', 'id', 'app.id of who held lane 0 then'),
('refusal', 'holder_cause', 'label', 'queued_behind, inversion, crowded_out, hogged, unknown: as in miss_cause'),
('resource_exhausted', '', '', 'time that more was asked of a service than there is'),
('resource_exhausted', 'owner', 'label', 'model, stream, exec, app, service: who has too much'),
('resource_exhausted', 'execution_id', 'id', 'execution.id, if that is known'),
('resource_exhausted', 'model_id', 'id', 'model.id, if that is known'),
('resource_exhausted', 'app_id', 'id', 'app.id, if that is known'),
('resource_exhausted', 'at', 'time', 'it was refused'),
('resource_exhausted', 'kind', 'label', 'transient, persistent: whether to try again makes sense'),
('resource_exhausted', 'resource', 'label', 'memory, connections, models, pools, streams'),
('resource_exhausted', 'asked', 'number', 'how much or how many there would have been'),
('resource_exhausted', 'limit_value', 'number', 'how much or how many there may be'),
('resource_exhausted', 'owner_id', 'number', 'as the trace calls the owner'),
('resource_exhausted', 'trace_id', 'id', 'trace.id'),
('miss_cause', '', '', 'missed deadline, cause of it and culprit; late_ns of an execution sum to its lateness_ns, budget_ns to the time from its beginning to its deadline'),
('miss_cause', 'execution_id', 'id', 'execution.id'),
('miss_cause', 'cause', 'label', 'too_big, too_tight, queued_behind, inversion, crowded_out, hogged, preempted, redo, handover, cold, woken_late, polled_late, queue_full, slow_compute, off_core, service, client, dependency, bad_estimate, unknown; budget only: own_run, unused'),
('miss_cause', 'culprit_execution_id', 'id', 'execution.id of who is to blame; NULL: nobody'),
('miss_cause', 'culprit_app_id', 'id', 'app.id of who is to blame; NULL: nobody'),
('miss_cause', 'budget_ns', 'ns', 'part of the time up to the deadline; NULL: unknown'),
('miss_cause', 'late_ns', 'ns', 'part of the lateness; below 0: it made up for others'),
('miss_cause', 'saved', '0/1', 'without it the deadline would have been met'),
('miss_cause', 'is_primary', '0/1', 'it took the most'),
('miss_stat', '', '', 'app, model name, priority and cause of missed deadlines: causes of all its misses added up'),
('miss_stat', 'app_id', 'id', 'app.id'),
('miss_stat', 'model', 'text', 'model.name; data from a stranger; empty: unknown'),
('miss_stat', 'priority', 'label', 'low, medium, high'),
('miss_stat', 'cause', 'label', 'as in miss_cause'),
('miss_stat', 'n', 'count', 'misses that it has a part in'),
('miss_stat', 'misses', 'count', 'of them, those of which it is the primary cause'),
('miss_stat', 'persistent', 'count', 'of these, those that were given up for good'),
('miss_stat', 'saved', 'count', 'misses that would not have been without it, whoever its culprits were'),
('miss_stat', 'lost_ns', 'ns', 'what it took, where it took any'),
('miss_stat', 'worst_ns', 'ns', 'the most that it took of one of them'),
('miss_stat', 'late_ns', 'ns', 'what it took, less what it made up for'),
('miss_stat', 'budget_ns', 'ns', 'what it took of the time up to the deadline'),
('culprit_stat', '', '', 'app that missed deadlines, app and model that made it miss them, and cause'),
('culprit_stat', 'app_id', 'id', 'app.id of who missed them'),
('culprit_stat', 'culprit_app_id', 'id', 'app.id of who is to blame'),
('culprit_stat', 'culprit_model', 'text', 'model.name of what it ran; data from a stranger; empty: unknown'),
('culprit_stat', 'culprit_priority', 'label', 'low, medium, high'),
('culprit_stat', 'cause', 'label', 'as in miss_cause'),
('culprit_stat', 'misses', 'count', 'misses of which that is the primary cause'),
('culprit_stat', 'saved', 'count', 'misses that would not have been without that'),
('culprit_stat', 'lost_ns', 'ns', 'what that took');

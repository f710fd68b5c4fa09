-- preemption, deadline_miss, refusal, resource_exhausted, miss_cause, miss_without, miss_replay: one row per event; of miss_cause per execution, cause and culprit, of
-- miss_without per execution and replay, of miss_replay per execution. The other views are sums of these.
CREATE VIEW preemption AS SELECT @columns preemption@ FROM stored_preemption;

CREATE VIEW deadline_miss AS SELECT @columns deadline_miss@ FROM stored_deadline_miss;

CREATE VIEW refusal AS SELECT @columns refusal@ FROM stored_refusal;

CREATE VIEW resource_exhausted AS SELECT
	@columns resource_exhausted ..execution_id@,
	coalesce(model_id, (SELECT x.model_id FROM stored_execution x WHERE x.id = e.execution_id)) AS model_id,
	coalesce(app_id, (SELECT x.app_id FROM stored_execution x WHERE x.id = e.execution_id)) AS app_id,
	@columns resource_exhausted at..@
FROM stored_exhausted e;

CREATE VIEW miss_cause AS SELECT @columns miss_cause@ FROM stored_miss_cause;

CREATE VIEW miss_without AS SELECT @columns miss_without@ FROM stored_miss_without;

CREATE VIEW miss_replay AS SELECT @columns miss_replay@ FROM stored_miss_replay;

CREATE VIEW late_start AS SELECT @columns late_start@ FROM stored_late_start;

CREATE VIEW miss_blame AS SELECT @columns miss_blame@ FROM stored_miss_blame;

CREATE VIEW miss_stat AS SELECT
	s.app_id, coalesce(m.name, '') AS model, @priority s.priority@ AS priority, @cause s.cause@ AS cause, sum(s.n) AS n, sum(s.misses) AS misses,
	sum(s.persistent) AS persistent, sum(s.saved) AS saved, sum(s.lost_ns) AS lost_ns, max(s.worst_ns) AS worst_ns,
	sum(s.late_ns) AS late_ns, sum(s.budget_ns) AS budget_ns, sum(s.unsure) AS unsure
FROM stored_miss_stat s LEFT JOIN stored_model m ON m.id = s.model_id
GROUP BY s.app_id, coalesce(m.name, ''), s.priority, s.cause;

CREATE VIEW culprit_stat AS SELECT
	s.app_id, s.culprit_app_id, coalesce(m.name, '') AS culprit_model, @priority s.priority@ AS culprit_priority, @cause s.cause@ AS cause,
	sum(s.misses) AS misses, sum(s.lost_ns) AS lost_ns
FROM stored_culprit_stat s LEFT JOIN stored_model m ON m.id = s.model_id
GROUP BY s.app_id, s.culprit_app_id, coalesce(m.name, ''), s.priority, s.cause;

CREATE VIEW primary_miss AS SELECT @columns primary_miss@ FROM stored_primary_miss;

CREATE VIEW short_budget AS SELECT @columns short_budget@ FROM stored_short_budget;

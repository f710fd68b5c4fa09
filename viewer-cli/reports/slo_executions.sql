-- slo_executions: one row per picked execution, with what rules of check count, however many rules there are: lost: a loss touches it. seen: its end, or its
-- run, was seen from the service. waited_ns: from its first event to the end of the recording. so_far_ns: the same of one that is under way there, where that
-- end is known. unsure: whether it missed its deadline was not recorded; perhaps: whether it had one. untold: the outcome is what the side shows that was
-- not recorded. given_up: the client gave it up before it was answered, the service ended it later, sent no result, and nothing was lost since. Leaves out
-- trial runs, and executions that no rule selects. (LIMIT -1 is no limit: without both, SQLite would
-- compute each column again wherever one of this query names it.)
@with@,
last_loss AS MATERIALIZED (SELECT trace_id, max(ended) AS ended FROM loss GROUP BY trace_id)
SELECT complete, quality = 'head' AS head, quality IN ('gap', 'tail') AS lost, quality = 'open' AS open, status IS NOT NULL AS ended, status IS 'NONE' AS answered,
	sides IS 'service' AS service, sides IS 'client' AS client, e2e_ns IS NOT NULL AS has_e2e, request_read IS NOT NULL AND run_ended IS NOT NULL AS seen,
	@ended@ - coalesce(submitted, request_read, enqueued) AS waited_ns, @so_far@ AS so_far_ns, @deadlines@, @given_up@ AS given_up@selections@@values@
FROM (SELECT trace_id, path, complete, status, sides, quality, submitted, request_read, enqueued, run_ended, result_written, returned, signalled, e2e_ns@columns@
	FROM picked WHERE @selection@ LIMIT -1) x LIMIT -1

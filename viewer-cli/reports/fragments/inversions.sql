-- off_core_of_holder: how long the holder h of a lane was not on a cpu: no preemption can stop it then.
max(coalesce(h.run_ns - h.cpu_ns, 0), 0)
-- limit_of_holder: the limit of an inversion but for the allowance, by the holder h and its stretch s.
(ifnull(s.stretch_ns, 0) * ifnull(s.known, 0) + @off_core@)
-- inversion_bound: the usual limit of an inversion, but for the allowance and what no policy can avoid.
most_ns
-- inversion_allowed: the part of an inversion that no policy can avoid.
off_core_ns
-- inverted_on_probation: a condition on inversions i: the victim's app was on probation meanwhile, and an execution of it waits whatever its priority.
(EXISTS (SELECT 1 FROM probations) AND EXISTS (SELECT 1 FROM involved w CROSS JOIN probations p ON p.app_id IS w.app_id
	WHERE w.execution_id = i.victim_id AND p.stopped < i.began + i.dur_ns AND p.stopped + 1000000000 > i.began))
-- lesser_on_probation: the same condition on inversions i that the import added up: on one of them at least, perhaps.
(EXISTS (SELECT 1 FROM probations) AND EXISTS (SELECT 1 FROM involved w CROSS JOIN probations p ON p.app_id IS w.app_id
	WHERE w.execution_id = i.victim_id AND p.stopped < i.ended AND p.stopped + 1000000000 > i.began))

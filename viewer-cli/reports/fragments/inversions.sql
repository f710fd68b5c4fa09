-- off_core_of_holder: how long the holder h of a lane was not on a cpu: no preemption can stop it then.
max(coalesce(h.run_ns - h.cpu_ns, 0), 0)
-- limit_of_holder: the limit of an inversion, by the holder h and its stretch s.
(ifnull(s.stretch_ns, 0) * ifnull(s.known, 0) + @off_core@ + 1000000)
-- inversion_bound: the usual limit of an inversion.
(most_ns + 1000000)
-- inversion_allowed: the part of an inversion that no policy can avoid.
off_core_ns
-- inversion_all: the part of an inversion that counts against a limit that the user gave.
dur_ns
-- inversion_excess: the part of an inversion that counts, if no limit was given.
dur_ns - stretch_ns

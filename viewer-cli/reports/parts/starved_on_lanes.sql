-- starved_on_lanes: a condition on episodes w: their service has lanes, which policy native has not.
NOT EXISTS (SELECT 1 FROM execution x JOIN service_rules r ON r.trace_id IS x.trace_id AND r.instance = (x.exec >> 52 & 4095) WHERE x.id = w.execution_id AND r.policy = 'native')

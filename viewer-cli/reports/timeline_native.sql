-- timeline_native: at most one row: a service had the policy native.
SELECT 1 FROM service_rules WHERE policy = 'native' LIMIT 1

-- groups_nameless: at most one row: there is a model without a name.
SELECT 1 FROM execution_count WHERE model = '' LIMIT 1

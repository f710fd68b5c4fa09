-- What comes of many executions: between apps, inside one, and percentiles.
CREATE TABLE stored_miss_cause(
	execution_id INTEGER, nth INTEGER, cause INTEGER, culprit_execution_id INTEGER, culprit_app_id INTEGER,
	budget_ns INTEGER, late_ns INTEGER, saved INTEGER, is_primary INTEGER, PRIMARY KEY(execution_id, nth)) WITHOUT ROWID;
CREATE TABLE stored_miss_stat(
	app_id INTEGER, model_id INTEGER, priority INTEGER, cause INTEGER, n INTEGER, misses INTEGER, persistent INTEGER, saved INTEGER,
	lost_ns INTEGER, worst_ns INTEGER, late_ns INTEGER, budget_ns INTEGER);
CREATE TABLE stored_culprit_stat(
	app_id INTEGER, culprit_app_id INTEGER, model_id INTEGER, priority INTEGER, cause INTEGER, misses INTEGER, saved INTEGER,
	lost_ns INTEGER);
CREATE TABLE inversion(victim_id INTEGER, holder_id INTEGER, lane INTEGER, began INTEGER, dur_ns INTEGER);
CREATE TABLE stored_starvation(
	execution_id INTEGER, app_id INTEGER, model_id INTEGER, began INTEGER, gap_ns INTEGER, bypassed INTEGER,
	top_culprit_app_id INTEGER, top_culprit_ns INTEGER);
CREATE TABLE stored_share(
	app_id INTEGER, received_ns INTEGER, entitled_ns INTEGER, max_lag_ns INTEGER, max_lag_at INTEGER);
CREATE TABLE app_lag(window_began INTEGER, app_id INTEGER, received_ns INTEGER, entitled_ns INTEGER, lag_ns INTEGER);
CREATE TABLE interference(by_app_id INTEGER, app_id INTEGER, ns INTEGER);
CREATE TABLE stored_choice(id INTEGER PRIMARY KEY, at INTEGER, chosen_id INTEGER, passed_over_id INTEGER, honoured INTEGER);
CREATE TABLE stored_phase_stat(
	app_id INTEGER, model TEXT, priority INTEGER, path INTEGER, cold INTEGER, figure INTEGER, n INTEGER, sum_ns
	INTEGER, min_ns INTEGER, p50_ns INTEGER, p90_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, max_ns
	INTEGER);
CREATE TABLE stored_overhead(
	app_id INTEGER, model TEXT, priority INTEGER, path INTEGER, cold INTEGER, cause INTEGER, n INTEGER, sum_ns INTEGER);
CREATE TABLE stored_slowdown(app_id INTEGER, n INTEGER, p50 INTEGER, p99 INTEGER); -- ten-thousandths
CREATE TABLE stored_typical(
	model_id INTEGER, path INTEGER, phase INTEGER, n INTEGER, p50_ns INTEGER, estimated INTEGER, PRIMARY
	KEY(model_id, path, phase)) WITHOUT ROWID;

INSERT INTO schema_doc VALUES
('inversion', '', '', 'time that an execution waited while one of lower priority of its own app held a lane, longer than that one''s model''s step_ns'),
('inversion', 'victim_id', 'id', 'execution.id of who waited'),
('inversion', 'holder_id', 'id', 'execution.id of who held a lane'),
('inversion', 'lane', 'number', 'that it held'),
('inversion', 'began', 'time', 'both were so from here on'),
('inversion', 'dur_ns', 'ns', 'all of it'),
('app_lag', '', '', 'app and window of time in which it was backlogged (had an execution ready or on a lane) and somebody had a lane'),
('app_lag', 'window_began', 'time', 'windows are 100 ms'),
('app_lag', 'app_id', 'id', 'app.id'),
('app_lag', 'received_ns', 'ns', 'lane time it had in the window; a lane that was handed to it counts when it was on it'),
('app_lag', 'entitled_ns', 'ns', 'lane time it should have had: what anybody had, shared evenly among the apps that had use for it'),
('app_lag', 'lag_ns', 'ns', 'entitled less received since it last became backlogged: the most in the window; below 0: it had more'),
('interference', '', '', 'pair of apps of which one made the other wait'),
('interference', 'by_app_id', 'id', 'app.id of who held a lane'),
('interference', 'app_id', 'id', 'app.id of who waited for it; may be the same'),
('interference', 'ns', 'ns', 'executions of app_id waited so long for lanes that by_app_id held');

/*
 * plugin_host.c -- a program that uses libbabeltrace2 and SQLite: it has databases of its own before, while and after
 * our plugin is loaded.
 *
 *   plugin_host PLUGIN TRACE OUTPUT OWN
 *
 * PLUGIN makes OUTPUT of TRACE, and is unloaded; OWN is the database of the host. Exits with 0 if nothing of the
 * plugin is left, and the host's use of SQLite succeeds each time.
 */
#include <babeltrace2/babeltrace.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "plugin_host: %s\n", what);
	exit(1);
}

/* A table in a file, and a sort of more than SQLite keeps in memory. */
static void use_sqlite(const char *path, const char *when)
{
	static const char sql[] = "CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES(1); PRAGMA cache_size = -64;"
				  "CREATE TEMP TABLE s AS WITH RECURSIVE n(i) AS "
				  "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
				  "SELECT i, hex(zeroblob(50)) AS z FROM n ORDER BY -i";
	sqlite3 *db = NULL;

	must(sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, when);
	sqlite3_close(db);
}

static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *ret = NULL;

	must(bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &ret) == BT_PLUGIN_FIND_STATUS_OK, name);
	return ret;
}

static bt_value *source_params(const char *trace)
{
	bt_value *list = bt_value_array_create(), *ret = bt_value_map_create();

	bt_value_array_append_string_element(list, trace);
	bt_value_map_insert_entry(ret, "inputs", list);
	bt_value_put_ref(list);
	return ret;
}

static bt_value *sink_params(const char *output)
{
	bt_value *ret = bt_value_map_create();

	bt_value_map_insert_string_entry(ret, "output", output);
	return ret;
}

/* ctf.fs, utils.muxer and the only component of @set. */
static void run_graph(const bt_plugin_set *set, const char *trace, const char *output)
{
	const bt_plugin *ctf = find_plugin("ctf"), *utils = find_plugin("utils");
	const bt_plugin *ours = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
	bt_value *of_source = source_params(trace), *of_sink = sink_params(output);
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source = NULL;
	const bt_component_filter *muxer = NULL;
	const bt_component_sink *sink = NULL;

	must(!bt_graph_add_source_component(graph, bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs"),
	                                    "source", of_source, BT_LOGGING_LEVEL_NONE, &source) &&
	             !bt_graph_add_filter_component(
			     graph, bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer"), "muxer",
			     NULL, BT_LOGGING_LEVEL_NONE, &muxer) &&
	             !bt_graph_add_sink_component(graph,
	                                          bt_plugin_borrow_sink_component_class_by_name_const(ours, "sqlite"),
	                                          "sink", of_sink, BT_LOGGING_LEVEL_NONE, &sink),
	     "a component cannot be added");
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++)
		must(!bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, i),
		                             bt_component_filter_borrow_input_port_by_index_const(muxer, i), NULL),
		     "the source cannot be connected");
	must(!bt_graph_connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
	                             bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL),
	     "the sink cannot be connected");
	must(bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK, "the graph does not run");
	bt_graph_put_ref(graph);
	bt_value_put_ref(of_source);
	bt_value_put_ref(of_sink);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(utils);
}

static bool is_mapped(const char *path)
{
	char line[8192];
	FILE *maps = fopen("/proc/self/maps", "r");
	bool ret = false;

	must(maps, "/proc/self/maps cannot be read");
	while (fgets(line, sizeof(line), maps))
		ret = ret || strstr(line, path);
	fclose(maps);
	return ret;
}

int main(int argc, char **argv)
{
	const bt_plugin_set *set = NULL;
	const char *name;

	if (argc != 5)
		return 2;
	name = strrchr(argv[1], '/');
	name = name ? name : argv[1];
	use_sqlite(argv[4], "before the plugin is loaded, SQLite fails");
	must(bt_plugin_find_all_from_file(argv[1], BT_TRUE, &set) == BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK,
	     "the plugin cannot be loaded");
	run_graph(set, argv[2], argv[3]);
	must(is_mapped(name), "the plugin is not mapped while it is loaded");
	use_sqlite(argv[4], "while the plugin is loaded, SQLite fails");
	bt_plugin_set_put_ref(set);
	must(!is_mapped(name), "the plugin is still mapped");
	must(!strcmp(sqlite3_vfs_find(NULL)->zName, "unix"), "the default VFS is another one");
	use_sqlite(argv[4], "after the plugin was unloaded, SQLite fails");
	return 0;
}

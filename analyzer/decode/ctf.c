/* ctf.c -- finds a component class of the plugin ctf, and keeps the plugin loaded. */
#include "ctf.h"

#include <dlfcn.h>

#include "failed.h"

/* babeltrace2 leaks, given bad metadata: a leak checker can name its functions only while its libraries are loaded. */
static void keep_loaded(const char *path)
{
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;

	if (library)
		dlclose(library);
}

const bt_component_class_source *bsa_ctf_class(const char *name, struct bsa_err *err)
{
	const bt_component_class_source *class = NULL;
	const bt_plugin *plugin = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) == BT_PLUGIN_FIND_STATUS_OK)
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, name);
	if (class) {
		bt_component_class_source_get_ref(class);
		keep_loaded(bt_plugin_get_path(plugin));
	} else {
		bsa_bt_failed(err, BSA_E_ENV,
		              "babeltrace2's component class source.ctf.%s, which reads traces, was not found; install "
		              "babeltrace2",
		              name);
	}
	bt_plugin_put_ref(plugin);
	return class;
}

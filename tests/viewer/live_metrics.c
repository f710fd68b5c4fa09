/*
 * live_metrics.c -- live_metrics DIRECTORY: print the metrics of a trace as an exporter counts them while the
 * trace grows, in Prometheus's text form.
 */
#include <stdlib.h>

#include "metrics/of_live.h"

int main(int argc, char **argv)
{
	struct bsv_buckets buckets;
	struct bsv_metrics *m;
	struct bsv_metrics_of_live *f;
	struct bsa_live *l = NULL;
	struct bsa_live_state state;
	struct bsa_err err = { "" };

	if (argc != 2)
		return 2;
	bsv_buckets_init(&buckets);
	m = bsv_metrics_new(&buckets);
	f = m ? bsv_metrics_of_live_new(m) : NULL;
	if (!f ||
	    bsa_live_open(&l, &(struct bsa_live_options){ .directory = argv[1], .calls = bsv_metrics_of_live_calls(f) },
	                  &err) < 0 ||
	    bsa_live_look(l, 0, &err) < 0 || bsa_live_finish(l, &err) < 0) {
		fprintf(stderr, "live_metrics: %s\n", err.text);
		return 1;
	}
	state = bsa_live_state(l);
	if (!state.exact)
		fprintf(stderr, "live_metrics: not exact: %s\n", state.why);
	bsv_metrics_of_live_state(f, &state);
	bsv_metrics_print(m, BSV_PROMETHEUS_TEXT, stdout);
	bsa_live_free(l);
	bsv_metrics_of_live_free(f);
	bsv_metrics_free(m);
	return 0;
}

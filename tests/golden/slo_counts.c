/*
 * slo_counts.c -- "slo_counts SLO DATABASE": print all that check counts for each rule, a line each: "NAME=VALUE ...".
 * The names are those of the columns of the query that --show-sql prints.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "slo/counting.h"

static void print(const struct bsv_slo_counting *of)
{
	const struct bsv_slo_counts *c = &of->counts;
	const struct bsv_slo_kept *kept = &of->kept;

	switch (of->rule->kind) {
	case BSV_SLO_COVERAGE:
		printf("n=%" PRId64 " n_unknown=%" PRId64 " n_head=%" PRId64 "\n", kept->executions,
		       kept->lost_executions, kept->headless);
		return;
	case BSV_SLO_EXECUTIONS:
		printf("n_executions=%" PRId64 " n_unsure=%" PRId64 " n_trials=%" PRId64 "\n", c->executions, c->unsure,
		       c->trials);
		return;
	case BSV_SLO_MISSES:
		printf("n_deadlines=%" PRId64 " n_missed=%" PRId64 " n_perhaps=%" PRId64,
		       c->n + c->unknown + c->no_client + c->no_service, c->over, c->perhaps);
		break;
	default:
		printf("n=%" PRId64 " n_over=%" PRId64 " n_given_up=%" PRId64 " figure=%.12g", c->n, c->over,
		       c->given_up, isnan(c->figure) ? 0 : c->figure);
	}
	printf(" n_executions=%" PRId64 " n_unsure=%" PRId64 " n_unknown=%" PRId64 " n_no_client=%" PRId64
	       " n_no_service=%" PRId64 "\n",
	       c->executions, c->unsure, c->unknown, c->no_client, c->no_service);
}

int main(int argc, char **argv)
{
	static const struct bsv_command command = { .name = "slo_counts", .asks = BSV_ASK_WHEN };
	const struct bsv_call call = { .command = &command, .common = { .quiet = true } };
	struct bsv_slo_counting *of = NULL;
	struct bsa_err err = { "" };
	struct bsv_input input;
	struct bsv_slo slo;

	if (argc != 3 || bsv_slo_read(&slo, argv[1], &err) < 0 || bsv_input_open(&input, argv[2], &call, &err) < 0) {
		fprintf(stderr, "slo_counts: %s\n", err.text);
		return 2;
	}
	of = calloc(slo.n, sizeof(*of));
	for (size_t i = 0; of && i < slo.n; i++)
		of[i] = (struct bsv_slo_counting){ .rule = &slo.rules[i], .bound = slo.rules[i].bound };
	if (!of || bsv_slo_count(of, slo.n, &input, &err) < 0) {
		fprintf(stderr, "slo_counts: %s\n", err.text);
		return 2;
	}
	for (size_t i = 0; i < slo.n; i++)
		print(&of[i]);
	free(of);
	bsv_input_close(&input);
	bsv_slo_fini(&slo);
	return 0;
}

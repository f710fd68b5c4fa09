/*
 * metric_table.c -- print every metric as docs/metrics.md has it.
 */
#include "metrics/generated.h"

int main(void)
{
	bsv_metrics_table(stdout);
	return 0;
}

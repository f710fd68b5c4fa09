/*
 * decoders_agree.c -- decoders_agree [-q] TRACE...: print that they agree, or where they do not (exit status 1).
 *
 * -q: and the quick one understands each of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/decoders.h"

int main(int argc, char **argv)
{
	bool wanted = argc > 1 && !strcmp(argv[1], "-q");
	int status = argc > 1 + wanted ? 0 : 2;

	for (int i = 1 + wanted; i < argc; i++) {
		struct decoders all = decoders_compare(argv[i], 0);

		printf("%s: %" PRIu64 " records%s%s%s%s\n", argv[i], all.records, all.quick ? ", quick" : "",
		       all.cut ? ", cut" : "", all.code < 0 ? ", refused" : "", *all.differs ? ", and differs: " : "");
		if (*all.differs)
			printf("\t%s\n", all.differs);
		if (*all.differs || (wanted && !all.quick))
			status = 1;
	}
	return status;
}

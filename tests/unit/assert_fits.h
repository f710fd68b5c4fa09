/*
 * assert_fits.h -- assert_fits() for a drawing on a terminal: no line is wider than the screen, has a control
 * character or ends with a blank.
 */
#ifndef ASSERT_FITS_H
#define ASSERT_FITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/letters.h"

static void assert_fits(const char *text, int width)
{
	char *own = strdup(text), *rest = own, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (bsv_width(line) > width)
			fail_msg("%d columns on a screen of %d: %s", bsv_width(line), width, line);
		for (const char *c = line; *c; c++)
			assert_true((unsigned char)*c >= 0x20);
		assert_true(!*line || line[strlen(line) - 1] != ' ');
	}
	free(own);
}

#endif

/* render.c -- names the forms of output, and prints integers, which all forms have in common. */
#include "render/render.h"

const char *const bsv_formats[] = { "table", "json", "csv", NULL };

void bsv_print_int(FILE *to, int64_t value)
{
	char text[24], *at = text + sizeof(text);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--at = '-';
	fwrite(at, 1, (size_t)(text + sizeof(text) - at), to);
}

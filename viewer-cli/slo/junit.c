/* junit.c -- names come from traces and are not trusted: what XML 1.0 cannot represent becomes U+FFFD. */
#include "slo/junit.h"

#include <inttypes.h>
#include <string.h>

#include "base/letters.h"

static void write_attribute(FILE *to, const char *name, const char *value)
{
	size_t left = strlen(value);

	fprintf(to, " %s=\"", name);
	while (left) {
		uint32_t c;
		size_t n = bsv_letter(value, left, &c);

		switch (c) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\n':
		case '\t':
			fprintf(to, "&#%" PRIu32 ";", c);
			break;
		default:
			/* the code points that XML 1.0 may contain, but for control characters */
			if (n && ((c >= ' ' && c <= 0xd7ff && !(c >= 0x7f && c < 0xa0)) ||
			          (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff)))
				fwrite(value, 1, n, to);
			else
				fputs("\xef\xbf\xbd", to);
		}
		value += n ? n : 1;
		left -= n ? n : 1;
	}
	fputc('"', to);
}

static void write_property(FILE *to, const char *name, double value)
{
	if (value == value) /* NaN: unknown */
		fprintf(to, "        <property name=\"%s\" value=\"%.15g\"/>\n", name, value);
}

void bsv_slo_junit(FILE *to, const char *file, const char *input, const char *coverage, const struct bsv_slo *slo,
                   const struct bsv_slo_result *results)
{
	size_t failed = 0, unsure = 0;

	for (size_t i = 0; i < slo->n; i++) {
		failed += results[i].outcome == BSV_FAIL;
		unsure += results[i].outcome == BSV_CANNOT_TELL;
	}
	file = strrchr(file, '/') ? strrchr(file, '/') + 1
	                          : file; /* reports made in different directories must compare equal */
	fprintf(to,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	        "time=\"0\">\n  <testsuite tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"0\"",
	        slo->n, failed, unsure, slo->n, failed, unsure);
	write_attribute(to, "name", input);
	fputs(">\n    <properties>\n      <property name=\"coverage\"", to);
	write_attribute(to, "value", coverage);
	fputs("/>\n    </properties>\n", to);
	for (size_t i = 0; i < slo->n; i++) {
		const struct bsv_slo_rule *rule = &slo->rules[i];
		const struct bsv_slo_result *r = &results[i];

		fputs("    <testcase", to);
		write_attribute(to, "classname", file);
		write_attribute(to, "name", rule->text);
		fprintf(to, " line=\"%u\" time=\"0\">\n      <properties>\n", rule->line);
		write_property(to, "figure", r->figure);
		write_property(to, "bound", r->bound);
		if (r->n >= 0)
			write_property(to, "n", (double)r->n);
		fputs("      </properties>\n", to);
		if (r->outcome != BSV_PASS) {
			fprintf(to, "      <%s type=\"%s\"", r->outcome == BSV_FAIL ? "failure" : "error",
			        bsv_slo_word(r->outcome));
			write_attribute(to, "message", r->why);
			fputs("/>\n", to);
		}
		fputs("    </testcase>\n", to);
	}
	fputs("  </testsuite>\n</testsuites>\n", to);
}

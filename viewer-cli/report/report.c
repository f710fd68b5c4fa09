/* report.c -- writes the HTML page of a database, with its data as packs. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/causes.h"
#include "base/scoped.h"
#include "page.h"
#include "report/pack.h"
#include "report/world.h"

static void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define scoped_file __attribute__((cleanup(close_file))) FILE

struct writing {
	struct bsv_input *input;
	const struct bsv_page_asked *asked;
	FILE *to, *answers, *first, *packs;
	struct bsa_err *err;
};

/* 'sha256-...', as a policy wants it. @hex: as the build wrote it. */
static void write_hash(FILE *to, const char *hex)
{
	unsigned char bytes[32];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		const char two[] = { hex[2 * i], hex[2 * i + 1], 0 };

		bytes[i] = (unsigned char)strtoul(two, NULL, 16);
	}
	fputs("'sha256-", to);
	bsv_base64(to, bytes, sizeof(bytes));
	fputs("'", to);
}

/* The directory of a recording is of no use to a reader of the page, and shows its maker's name to strangers. */
static const char *title_of(const struct writing *w)
{
	const char *name = w->input->known_as, *slash = strrchr(name, '/');

	return w->asked->title ? w->asked->title : slash && slash[1] ? slash + 1 : name;
}

static void write_head(struct writing *w)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
	      "'none'; script-src ",
	      w->to);
	write_hash(w->to, bsv_page_script_sha256);
	fputs("; style-src ", w->to);
	write_hash(w->to, bsv_page_style_sha256);
	fputs("; worker-src blob:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
	      "name=\"color-scheme\" "
	      "content=\"light dark\">\n<title>",
	      w->to);
	for (const char *at = title_of(w); *at; at++) /* as text of HTML */
		if (strchr("<>&\"'", *at))
			fprintf(w->to, "&#%d;", *at);
		else
			fputc(*at, w->to);
	fputs(" - burstscope</title>\n<style>", w->to);
	fwrite(bsv_page_style, 1, bsv_page_style_size, w->to);
	fputs("</style>\n</head>\n", w->to);
	fwrite(bsv_page_body, 1, bsv_page_body_size, w->to);
}

/* JSON, for a script element. */
static void write_json(FILE *to, const char *json, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json[i] == '<')
			fputs("\\u003c", to);
		else
			fputc(json[i], to);
}

/* Write the answers of the commands. A command that fails reports why in its place. */
static int write_answers(struct writing *w)
{
	const char *name = NULL;

	for (size_t i = 0;; i++) {
		char *json = NULL;
		size_t n = 0;
		struct bsa_err why = { "" };
		FILE *memory = open_memstream(&json, &n);
		int r = memory ? w->asked->answer(w->asked->ctx, i, &name, memory, &why) : BSA_E_ENV;
		bool closed = memory && !fclose(memory);

		if (closed && r != BSV_PAGE_NO_MORE) {
			fprintf(w->to, "<script type=\"application/json\" data-answer=\"%s\">", name);
			if (r < 0) {
				fputs("{\"error\":", w->to);
				bsv_page_text(w->to, why.text);
				fputs("}", w->to);
			} else {
				write_json(w->to, json, n);
			}
			fputs("</script>\n", w->to);
		}
		free(json);
		if (!closed)
			return bsv_no_memory(w->err);
		if (r == BSV_PAGE_NO_MORE)
			return 0;
	}
}

static int append_file(FILE *to, FILE *from, struct bsa_err *err)
{
	char part[65536];
	size_t n;

	/* rewind clears the stream's error, so that a write that failed must be seen before */
	if (fflush(from) || ferror(from))
		return bsa_fail(err, BSA_E_ENV, "a temporary file in %s cannot be written; make room there", P_tmpdir);
	rewind(from);
	while ((n = fread(part, 1, sizeof(part), from)))
		fwrite(part, 1, n, to);
	return ferror(from) ? bsa_fail(err, BSA_E_ENV, "a temporary file cannot be read") : 0;
}

static void write_about(struct writing *w)
{
	char coverage[BSV_COVERAGE_TEXT];
	const char *name;

	fputs("<script type=\"application/json\" id=\"about\">{\"version\":", w->to);
	bsv_page_text(w->to, BURSTSCOPE_VERSION);
	fputs(",\"title\":", w->to);
	bsv_page_text(w->to, title_of(w));
	fputs(",\"database\":", w->to);
	bsv_page_text(w->to, w->input->known_as);
	/* [["too_big","what it means"],...] */
	fputs(",\"causes\":[", w->to);
	for (size_t i = 0; (name = bsv_cause_name(i)); i++) {
		fputs(i ? ",[" : "[", w->to);
		bsv_page_text(w->to, name);
		fputc(',', w->to);
		bsv_page_text(w->to, bsv_cause_text(name));
		fputc(']', w->to);
	}
	fputs("],\"coverage\":", w->to);
	bsv_page_text(w->to, bsv_coverage_text(&w->input->coverage, coverage));
	if (w->asked->other) {
		fputs(",\"other\":", w->to);
		bsv_page_text(w->to, w->asked->other->path);
		fputs(",\"other_coverage\":", w->to);
		bsv_page_text(w->to, bsv_coverage_text(&w->asked->other->coverage, coverage));
	}
	if (w->asked->part) {
		fputs(",\"asked\":", w->to);
		bsv_page_text(w->to, w->asked->part);
	}
	fprintf(w->to, ",\"part\":%s}</script>\n", w->input->picks ? "true" : "false");
}

int bsv_page_write(struct bsv_input *input, const struct bsv_page_asked *asked, FILE *to, struct bsa_err *err)
{
	scoped_file *first = tmpfile(), *packs = tmpfile();
	struct writing w = { .input = input, .asked = asked, .to = to, .first = first, .packs = packs, .err = err };
	int64_t bytes = asked->other ? asked->bytes / 2 : asked->bytes;
	struct bsv_shown shown;
	int r;

	if (!first || !packs)
		return bsa_fail(err, BSA_E_ENV, "no temporary file can be made in %s: %s", P_tmpdir, strerror(errno));
	r = bsv_world_write(&shown, input, "", bytes, first, packs, err);
	*asked->ret_executions = shown.all;
	if (r >= 0 && asked->other)
		r = bsv_world_write(&shown, asked->other, "2", bytes, first, packs, err);
	if (r < 0)
		return r;
	write_head(&w);
	write_about(&w);
	r = append_file(to, first, err);
	if (r >= 0)
		r = write_answers(&w);
	if (r < 0)
		return r;
	fputs("<script>", to);
	fwrite(bsv_page_script, 1, bsv_page_script_size, to);
	fputs("</script>\n", to);
	r = append_file(to, packs, err);
	fputs("</body>\n</html>\n", to);
	return r;
}

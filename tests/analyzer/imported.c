/* imported.c -- see imported.h. */
#include "analyzer/imported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/script.h"

void import_script(const char *text, const struct bsa_importer_options *options, const struct bsa_trace *trace)
{
	static const struct bsa_trace plain = { .path = "script",
		                                .uuid = "1",
		                                .host = "",
		                                .session = "",
		                                .clock = "",
		                                .clock_uuid = "",
		                                .uid = UINT32_MAX };
	struct bsa_decoded decoded = { .began = BSA_NEVER, .ended = BSA_NEVER };
	struct script *s = script_new(text);
	struct bsa_importer *im = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };

	assert_int_equal(bsa_importer_new(&im, options, &err), 0);
	assert_int_equal(bsa_importer_trace(im, trace ? trace : &plain, &err), 0);
	while ((e = script_next(s))) {
		decoded.began = decoded.began < e->at ? decoded.began : e->at;
		decoded.ended = e->at;
		decoded.events++;
		assert_int_equal(bsa_importer_event(im, e, &err), 0);
	}
	assert_int_equal(bsa_importer_decoded(im, 1, &decoded, &err), 0);
	if (bsa_importer_finish(im, &err))
		fail_msg("%s", err.text);
	bsa_importer_free(im);
	script_free(s);
}

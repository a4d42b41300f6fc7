#include "index_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "plan.h"

static void write_escaped(FILE *page, const char *text) {
  for (; *text != '\0'; text++) {
    switch (*text) {
    case '&':
      fputs("&amp;", page);
      break;
    case '<':
      fputs("&lt;", page);
      break;
    case '>':
      fputs("&gt;", page);
      break;
    case '"':
      fputs("&quot;", page);
      break;
    default:
      fputc(*text, page);
    }
  }
}

static void write_profile(FILE *page, const struct plan_profile *profile, bool available,
                          const char *heap_switch) {
  if (available) {
    fprintf(page, "<dt><a href=\"%s\">%s</a></dt><dd>", profile->name, profile->name);
    write_escaped(page, profile->summary);
  } else {
    fprintf(page, "<dt>%s</dt><dd>off: switch heap sampling on with ", profile->name);
    write_escaped(page, heap_switch);
  }
  fputs("</dd>\n", page);
}

static void write_page(FILE *page, bool heap_on, const char *heap_switch) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
        "<title>Folio: profiles</title></head>\n<body>\n<h1>Profiles of this process</h1>\n<dl>\n",
        page);
  size_t count;
  const struct plan_profile *profiles = plan_profiles(&count);
  for (size_t i = 0; i < count; i++)
    write_profile(page, &profiles[i], heap_on || profiles[i].type == FOLIO_CPU, heap_switch);
  fprintf(page,
          "</dl>\n<p>Files are gzipped pprof messages: open one with <code>folio top FILE</code> "
          "or <code>go tool pprof FILE</code>.</p>\n<p>Folio %s</p>\n</body>\n</html>\n",
          folio_version());
}

char *index_page(bool heap_on, const char *heap_switch, size_t *out_length) {
  char *bytes = NULL;
  FILE *page = open_memstream(&bytes, out_length);
  if (page == NULL)
    return NULL;
  write_page(page, heap_on, heap_switch);
  bool failed = ferror(page) != 0;
  if (fclose(page) == 0 && !failed)
    return bytes;
  free(bytes);
  return NULL;
}

#include "top_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/reader.h"

static enum top_report_result out_of_memory(char message[512]) {
  snprintf(message, 512, "out of memory");
  return TOP_REPORT_BAD_FILE;
}

/* Adds a text unless it is there; false when memory ran out. */
static bool comment_add(struct top_report *report, const char *text) {
  for (size_t i = 0; i < report->comment_count; i++) {
    if (strcmp(report->comments[i], text) == 0)
      return true;
  }
  char **moved = reallocarray(report->comments, report->comment_count + 1, sizeof(*moved));
  if (moved == NULL)
    return false;
  report->comments = moved;
  report->comments[report->comment_count] = strdup(text);
  if (report->comments[report->comment_count] == NULL)
    return false;
  report->comment_count++;
  return true;
}

static bool add_header(struct top_report *report, const struct pprof_profile *profile) {
  const struct pprof_header *header = &profile->header;
  report->samples += profile->sample_count;
  if (__builtin_add_overflow(report->duration_ns, header->duration_ns, &report->duration_ns))
    report->duration_ns = INT64_MAX;
  if (header->time_ns != 0 && (report->time_ns == 0 || header->time_ns < report->time_ns))
    report->time_ns = header->time_ns;
  for (size_t i = 0; i < profile->comment_count; i++) {
    if (!comment_add(report, profile->comments[i]))
      return false;
  }
  return true;
}

/* Takes the type from the first file; later ones must have the same in the same unit. */
static enum top_report_result choose_type(struct top_report *report,
                                          const struct pprof_profile *profile, const char *path,
                                          const char *sample_type, size_t *out_index,
                                          char message[512]) {
  struct pprof_error error;
  const char *wanted = report->type != NULL ? report->type : sample_type;
  if (pprof_top_choose(profile, wanted, out_index, &error) != 0) {
    snprintf(message, 512, "%s: %s", path, error.message);
    return report->type == NULL ? TOP_REPORT_BAD_TYPE : TOP_REPORT_BAD_FILE;
  }
  const struct pprof_value_type *chosen = &profile->header.sample_types[*out_index];
  if (report->type == NULL) {
    report->type = strdup(chosen->type);
    report->unit = strdup(chosen->unit);
    if (report->type == NULL || report->unit == NULL)
      return out_of_memory(message);
  } else if (strcmp(report->unit, chosen->unit) != 0) {
    snprintf(message, 512, "%s: its %s is in %s, that of the first file in %s", path, report->type,
             chosen->unit, report->unit);
    return TOP_REPORT_BAD_FILE;
  }
  return TOP_REPORT_MADE;
}

static enum top_report_result add_file(struct top_report *report, const char *path,
                                       const char *sample_type, char message[512]) {
  struct pprof_error error;
  struct pprof_profile *profile;
  size_t index;
  if (pprof_read_file(path, NULL, &profile, &error) != 0) {
    snprintf(message, 512, "%s: %s", path, error.message);
    return TOP_REPORT_BAD_FILE;
  }
  enum top_report_result result = choose_type(report, profile, path, sample_type, &index, message);
  if (result == TOP_REPORT_MADE &&
      (pprof_top_add(report->top, profile, index) != 0 || !add_header(report, profile)))
    result = out_of_memory(message);
  pprof_profile_free(profile);
  return result;
}

enum top_report_result top_report_make(const char *const *paths, size_t path_count,
                                       const char *sample_type, enum pprof_top_order order,
                                       struct top_report *out, char message[512]) {
  struct top_report report = {.top = pprof_top_create()};
  enum top_report_result result = TOP_REPORT_MADE;
  if (report.top == NULL)
    return out_of_memory(message);
  for (size_t i = 0; i < path_count && result == TOP_REPORT_MADE; i++)
    result = add_file(&report, paths[i], sample_type, message);
  if (result == TOP_REPORT_MADE &&
      pprof_top_rows(report.top, order, &report.rows, &report.row_count) != 0)
    result = out_of_memory(message);
  if (result != TOP_REPORT_MADE) {
    top_report_fini(&report);
    return result;
  }
  report.total = pprof_top_total(report.top);
  *out = report;
  return TOP_REPORT_MADE;
}

void top_report_fini(struct top_report *report) {
  for (size_t i = 0; i < report->comment_count; i++)
    free(report->comments[i]);
  free(report->comments);
  free(report->type);
  free(report->unit);
  pprof_top_destroy(report->top);
  *report = (struct top_report){0};
}

double top_report_percent(const struct top_report *report, int64_t value) {
  return report->total != 0 ? 100.0 * (double)value / (double)report->total : 0;
}

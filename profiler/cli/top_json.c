#include "top_report.h"

#include <stdio.h>

#include <jansson.h>

static json_t *row_json(const struct top_report *report, const struct pprof_top_row *row) {
  return json_pack("{s:s, s:s, s:I, s:f, s:I, s:f}",                      //
                   "name", row->name,                                     //
                   "file", row->file,                                     //
                   "flat", (json_int_t)row->flat,                         //
                   "flat_percent", top_report_percent(report, row->flat), //
                   "cum", (json_int_t)row->cum,                           //
                   "cum_percent", top_report_percent(report, row->cum));
}

/* An array of `count` elements; NULL when one could not be made. */
static json_t *rows_json(const struct top_report *report, size_t count) {
  json_t *rows = json_array();
  for (size_t i = 0; i < count; i++) {
    if (json_array_append_new(rows, row_json(report, &report->rows[i])) != 0) {
      json_decref(rows);
      return NULL;
    }
  }
  return rows;
}

static json_t *comments_json(const struct top_report *report) {
  json_t *comments = json_array();
  for (size_t i = 0; i < report->comment_count; i++) {
    if (json_array_append_new(comments, json_string(report->comments[i])) != 0) {
      json_decref(comments);
      return NULL;
    }
  }
  return comments;
}

int top_report_print_json(const struct top_report *report, size_t max_rows) {
  size_t shown = max_rows != 0 && max_rows < report->row_count ? max_rows : report->row_count;
  json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", //
                             "sample_type", report->type,                     //
                             "unit", report->unit,                            //
                             "total", (json_int_t)report->total,              //
                             "samples", (json_int_t)report->samples,          //
                             "time_ns", (json_int_t)report->time_ns,          //
                             "duration_ns", (json_int_t)report->duration_ns,  //
                             "function_count", (json_int_t)report->row_count, //
                             "functions", rows_json(report, shown),           //
                             "comments", comments_json(report));
  if (object == NULL)
    return -1;
  int result = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
  fputc('\n', stdout);
  json_decref(object);
  return result;
}

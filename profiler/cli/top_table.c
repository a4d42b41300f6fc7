#include "top_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "quantity.h"
#include "text.h"

#define SECOND_NS 1000000000

static void print_time(int64_t time_ns) {
  time_t seconds = (time_t)(time_ns / SECOND_NS);
  struct tm parts;
  char text[64];
  if (time_ns > 0 && gmtime_r(&seconds, &parts) != NULL &&
      strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
    printf("Time: %s\n", text);
}

static void print_header(const struct top_report *report) {
  char quantity[CLI_QUANTITY_BYTES];
  fputs("Type: ", stdout);
  cli_text_print(stdout, report->type);
  fputc('\n', stdout);
  print_time(report->time_ns);
  if (report->duration_ns != 0) {
    cli_quantity_format(report->duration_ns, "nanoseconds", quantity);
    printf("Duration: %s\n", quantity);
  }
  cli_quantity_format(report->total, report->unit, quantity);
  fputs("Total: ", stdout);
  cli_text_print(stdout, quantity);
  cli_quantity_format((int64_t)report->samples, "count", quantity);
  printf(" in %s sample%s\n", quantity, report->samples == 1 ? "" : "s");
}

static void print_row(const struct top_report *report, const struct pprof_top_row *row) {
  char flat[CLI_QUANTITY_BYTES];
  char cum[CLI_QUANTITY_BYTES];
  cli_quantity_format(row->flat, report->unit, flat);
  cli_quantity_format(row->cum, report->unit, cum);
  cli_text_make_printable(flat);
  cli_text_make_printable(cum);
  printf("%12s %7.2f%% %12s %7.2f%%  ", flat, top_report_percent(report, row->flat), cum,
         top_report_percent(report, row->cum));
  cli_text_print(stdout, row->name);
  fputc('\n', stdout);
}

void top_report_print_table(const struct top_report *report, size_t max_rows) {
  size_t shown = max_rows != 0 && max_rows < report->row_count ? max_rows : report->row_count;
  print_header(report);
  if (report->row_count == 0)
    printf("\nNo sample has a value of this type.\n");
  else
    printf("\n%12s %8s %12s %8s  name\n", "flat", "flat %", "cum", "cum %");
  for (size_t i = 0; i < shown; i++)
    print_row(report, &report->rows[i]);
  if (shown < report->row_count)
    printf("... and %zu more: -n 0 shows all\n", report->row_count - shown);
  if (report->comment_count > 0)
    printf("\nComments:\n");
  for (size_t i = 0; i < report->comment_count; i++) {
    fputs("  ", stdout);
    cli_text_print(stdout, report->comments[i]);
    fputc('\n', stdout);
  }
}

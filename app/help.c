#include "app/flags.h"

#include <string.h>

#include "flags_table.h"

#define WIDTH 80
#define INDENT "        "

struct introduction {
  const char *purpose;
  const char *example;
};

static const struct introduction introductions[PROGRAM_COUNT] = {
    [PROGRAM_APP] = {"Counts the lines of Shakespeare that contain a phrase: the gRPC server and "
                     "the client simulator that drives it, in one process.",
                     "shakesapp -version 1 -num_rounds 15"},
    [PROGRAM_SERVER] = {"The gRPC server alone, until SIGINT or SIGTERM.",
                        "shakesapp-server -version 4 -port 7788"},
    [PROGRAM_CLIENT] = {"The client simulator alone, against any address.",
                        "shakesapp-client -target 127.0.0.1:7788 -num_rounds 15"},
};

/* What is said about the default. */
static const char *standard_shown(const struct flag *flag) {
  if (flag->not_built)
    return "not built yet";
  return *flag->standard != '\0' ? flag->standard : "none";
}

/* Writes a paragraph, each line indented and at most WIDTH wide where words allow. */
static void print_wrapped(FILE *out, const char *indent, const char *text) {
  size_t column = 0;
  while (*text != '\0') {
    size_t word = strcspn(text, " ");
    if (column > 0 && column + 1 + word > WIDTH) {
      fputc('\n', out);
      column = 0;
    }
    column += (size_t)fprintf(out, "%s%.*s", column == 0 ? indent : " ", (int)word, text);
    text += word;
    text += *text == ' ';
  }
  fputc('\n', out);
}

/* Writes `-port N` between the two. */
static void print_form(FILE *out, const char *before, const struct flag *flag, const char *after) {
  fprintf(out, "%s-%s", before, flag->name);
  if (flag->placeholder != NULL)
    fprintf(out, " %s", flag->placeholder);
  fputs(after, out);
}

static void print_flag(FILE *out, const struct flag *flag) {
  char meaning[512];
  print_form(out, "  ", flag, "\n");
  snprintf(meaning, sizeof(meaning), "%s (%s%s)", flag->meaning, flag->not_built ? "" : "default ",
           standard_shown(flag));
  print_wrapped(out, INDENT, flag->kind == FLAG_HELP ? flag->meaning : meaning);
}

static void print_versions(FILE *out) {
  fputs("\nVersions of the server's code:\n", out);
  for (size_t i = 0; i < match_version_count(); i++) {
    const struct match_version *version = match_version_at(i);
    fprintf(out, "  %d  %s\n", version->number, version->name);
    print_wrapped(out, INDENT, version->lesson);
  }
}

static void print_text(enum program program, FILE *out) {
  const struct introduction *introduction = &introductions[program];
  fprintf(out, "Usage: %s [flags]\n\n", program_name(program));
  print_wrapped(out, "", introduction->purpose);
  fprintf(out, "\n  %s\n\n", introduction->example);
  print_wrapped(out, "",
                "Flags take one or two dashes, -name value or -name=value; switches take "
                "no value, or =true or =false. Nothing is abbreviated.");
  fputc('\n', out);
  for (size_t i = 0; i < flags_table_count; i++) {
    if (flag_belongs_to(&flags_table[i], program))
      print_flag(out, &flags_table[i]);
  }
  if (program != PROGRAM_CLIENT)
    print_versions(out);
}

static void print_markdown(enum program program, FILE *out) {
  const struct introduction *introduction = &introductions[program];
  fprintf(out, "## %s\n\n%s\n\n    %s\n\n", program_name(program), introduction->purpose,
          introduction->example);
  fputs("| flag | default | meaning |\n|---|---|---|\n", out);
  for (size_t i = 0; i < flags_table_count; i++) {
    const struct flag *flag = &flags_table[i];
    if (flag_belongs_to(flag, program)) {
      print_form(out, "| `", flag, "` | ");
      fprintf(out, "%s | %s |\n", standard_shown(flag), flag->meaning);
    }
  }
}

void flags_print_help(const struct flags *flags, FILE *out) {
  if (flags->help == FLAGS_HELP_MARKDOWN)
    print_markdown(flags->program, out);
  else
    print_text(flags->program, out);
}

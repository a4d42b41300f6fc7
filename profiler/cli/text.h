#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdio.h>

/*
 * Writes the text with '?' for each control character: what a file says must not move a
 * terminal's cursor.
 */
void cli_text_print(FILE *out, const char *text);

/* Does the same to the text itself. */
void cli_text_make_printable(char *text);

/* Writes a paragraph, each line indented and no wider than 80 columns where words allow. */
void cli_text_print_wrapped(FILE *out, const char *indent, const char *text);

#endif

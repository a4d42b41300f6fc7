#ifndef CORPUS_VOCABULARY_H
#define CORPUS_VOCABULARY_H

#include <stdint.h>

#include "prng.h"

/*
 * The words of the stand-in: common English words first, then words invented
 * from syllables, drawn by Zipf's law. No word holds one of the phrases whose
 * count is known.
 */
enum {
  VOCABULARY_WORDS = 6000,
  VOCABULARY_DRAWS = 1 << 16,
  VOCABULARY_WORD_ROOM = 16, /* the longest word and its NUL */
};

struct vocabulary {
  char words[VOCABULARY_WORDS][VOCABULARY_WORD_ROOM]; /* by rank, the most frequent first */
  uint16_t draws[VOCABULARY_DRAWS];                   /* ranks, each as often as its share */
};

/* Fills it, always with the same words. */
void vocabulary_init(struct vocabulary *vocabulary);

/* A word by Zipf's law; borrowed for the vocabulary's life. */
const char *vocabulary_draw(const struct vocabulary *vocabulary, struct prng *prng);

/* A rare word for a name, each equally likely. */
const char *vocabulary_draw_name(const struct vocabulary *vocabulary, struct prng *prng);

#endif

#include "vocabulary.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Without "or", which "to be, or not to be" needs; nor is it invented, since
 * every onset is a consonant.
 */
static const char *const common_words[] = {
    "the",   "and",   "I",     "to",    "of",    "a",     "you",   "my",     "in",    "that",
    "is",    "not",   "with",  "me",    "it",    "for",   "his",   "be",     "this",  "your",
    "he",    "but",   "have",  "as",    "thou",  "him",   "so",    "will",   "what",  "her",
    "thy",   "all",   "by",    "no",    "do",    "shall", "if",    "are",    "we",    "thee",
    "on",    "our",   "now",   "good",  "from",  "at",    "she",   "they",   "come",  "which",
    "more",  "would", "well",  "was",   "there", "then",  "how",   "here",   "let",   "am",
    "their", "when",  "them",  "hath",  "than",  "like",  "an",    "one",    "us",    "upon",
    "say",   "go",    "may",   "make",  "such",  "did",   "must",  "were",   "know",  "yet",
    "see",   "o'er",  "'tis",  "some",  "who",   "give",  "where", "should", "these", "too",
    "most",  "take",  "speak", "think", "had",   "can",   "up",    "out",    "never", "much",
};

/*
 * The parts of a syllable, frequent ones repeated. No coda ends in l and no
 * onset begins with a plain c, which rules out "hello", "world" and "insolence".
 */
static const char *const onsets[] = {
    "b",  "b",  "d",  "d",  "f",  "f",  "gl", "h",  "h",  "k",  "l",  "l",  "m",  "m",  "n",
    "n",  "p",  "p",  "r",  "r",  "r",  "s",  "s",  "s",  "t",  "t",  "t",  "v",  "w",  "bl",
    "br", "ch", "cl", "dr", "fl", "gl", "pl", "qu", "sn", "st", "th", "th", "th", "tr", "wr",
};
static const char *const vowels[] = {
    "e", "e", "e", "e", "a", "a", "a", "o", "o", "o", "i", "i", "u", "ea", "ou", "ai", "y",
};
static const char *const codas[] = {
    "",  "",  "",  "",  "n",  "n",  "r",  "r",  "s",  "s",  "t",  "t",
    "d", "d", "m", "p", "rk", "nd", "ng", "nt", "st", "th", "rt", "ve",
};

static const char *pick(const char *const *parts, size_t count, struct prng *prng) {
  return parts[prng_below(prng, (uint32_t)count)];
}

/* Frequent words are short. */
static int syllables_of_rank(size_t rank) {
  if (rank < 400)
    return 1;
  return rank < 3000 ? 2 : 3;
}

static void invent_word(size_t rank, struct prng *prng, char out[VOCABULARY_WORD_ROOM]) {
  size_t length = 0;
  for (int left = syllables_of_rank(rank); left > 0; left--) {
    const char *onset = pick(onsets, COUNT_OF(onsets), prng);
    const char *vowel = pick(vowels, COUNT_OF(vowels), prng);
    /* Only the last syllable is closed, so that three of them fit into the room. */
    const char *coda = left > 1 ? "" : pick(codas, COUNT_OF(codas), prng);
    length +=
        (size_t)snprintf(out + length, VOCABULARY_WORD_ROOM - length, "%s%s%s", onset, vowel, coda);
  }
}

/*
 * Zipf's law as Mandelbrot amended it: the frequency of a rank falls as
 * 1 / (rank + 3), counted from 0.
 */
static uint64_t weight_of_rank(size_t rank) {
  return (UINT64_C(1) << 32) / (rank + 3);
}

static void fill_draws(struct vocabulary *vocabulary) {
  uint64_t total = 0;
  for (size_t rank = 0; rank < VOCABULARY_WORDS; rank++)
    total += weight_of_rank(rank);
  uint64_t sum = 0;
  size_t draw = 0;
  for (size_t rank = 0; rank < VOCABULARY_WORDS; rank++) {
    sum += weight_of_rank(rank);
    while (draw * total < sum * VOCABULARY_DRAWS)
      vocabulary->draws[draw++] = (uint16_t)rank;
  }
}

void vocabulary_init(struct vocabulary *vocabulary) {
  struct prng prng = {1537};
  for (size_t rank = 0; rank < VOCABULARY_WORDS; rank++) {
    char *word = vocabulary->words[rank];
    if (rank < COUNT_OF(common_words))
      snprintf(word, VOCABULARY_WORD_ROOM, "%s", common_words[rank]);
    else
      invent_word(rank, &prng, word);
  }
  fill_draws(vocabulary);
}

const char *vocabulary_draw(const struct vocabulary *vocabulary, struct prng *prng) {
  return vocabulary->words[vocabulary->draws[prng_below(prng, VOCABULARY_DRAWS)]];
}

const char *vocabulary_draw_name(const struct vocabulary *vocabulary, struct prng *prng) {
  size_t first = 1000;
  return vocabulary->words[first + prng_below(prng, VOCABULARY_WORDS - first)];
}

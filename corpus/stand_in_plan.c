#include "stand_in_plan.h"

/* Lines past the end are dropped. */
static void put(struct plan *plan, enum line_kind kind, size_t count) {
  for (; count > 0 && plan->done < plan->lines; count--)
    plan->kinds[plan->done++] = kind;
}

static void close_with(struct plan *plan, enum line_kind kind) {
  for (size_t i = plan->lines - PLAN_CLOSING_LINES; i < plan->lines; i++)
    plan->kinds[i] = kind;
}

bool line_kind_is_text(enum line_kind kind) {
  return kind >= LINE_SPEAKER;
}

static void put_speech(struct plan *plan, struct prng *prng) {
  static const size_t further_lines[] = {0, 0, 0, 0, 0, 1, 1, 2, 3, 5, 9};
  put(plan, LINE_SPEAKER, 1);
  put(plan, LINE_SPEECH,
      further_lines[prng_below(prng, sizeof further_lines / sizeof further_lines[0])]);
  put(plan, LINE_BLANK, 1);
}

void plan_play(struct plan *plan, struct prng *prng) {
  put(plan, LINE_TITLE, 1);
  while (plan->done < plan->lines) {
    put(plan, LINE_BLANK, 3);
    put(plan, LINE_SCENE, 1);
    put(plan, LINE_BLANK, 2);
    for (uint32_t speeches = 20 + prng_below(prng, 60); speeches > 0; speeches--) {
      put_speech(plan, prng);
      if (prng_below(prng, 10) == 0) {
        put(plan, LINE_DIRECTION, 1);
        put(plan, LINE_BLANK, 1);
      }
    }
  }
  close_with(plan, LINE_SPEECH);
}

void plan_poem(struct plan *plan) {
  put(plan, LINE_TITLE, 1);
  put(plan, LINE_BLANK, 3);
  while (plan->done < plan->lines) {
    put(plan, LINE_NUMERAL, 1);
    put(plan, LINE_BLANK, 1);
    put(plan, LINE_VERSE, 12);
    put(plan, LINE_COUPLET, 2);
    put(plan, LINE_BLANK, 1);
  }
  close_with(plan, LINE_VERSE);
}

#include "report_json.h"

#define SECOND_NS 1e9
#define MILLISECOND_NS 1e6

/* {"UNAVAILABLE": 3}: the statuses that occurred, OK aside. */
static json_t *errors_json(const struct simulator_tally *tally) {
  json_t *errors = json_object();
  for (int status = RPC_OK + 1; status < RPC_STATUS_COUNT; status++) {
    uint64_t count = tally->by_status[status];
    if (count > 0) {
      json_object_set_new(errors, rpc_status_name((enum rpc_status)status),
                          json_integer((json_int_t)count));
    }
  }
  return errors;
}

static double quantile_ms(const struct simulator_tally *tally, double quantile) {
  return (double)latency_quantile_ns(&tally->latency, quantile) / MILLISECOND_NS;
}

static json_t *latency_json(const struct simulator_tally *tally) {
  return json_pack("{s:f, s:f, s:f, s:f}",          //
                   "p50", quantile_ms(tally, 0.50), //
                   "p90", quantile_ms(tally, 0.90), //
                   "p99", quantile_ms(tally, 0.99), //
                   "max", (double)tally->latency.max_ns / MILLISECOND_NS);
}

json_t *report_round_json(uint64_t round, const struct simulator_tally *tally) {
  return json_pack("{s:s, s:I, s:I, s:f, s:f, s:I, s:o}",            //
                   "type", "round",                                  //
                   "round", (json_int_t)round,                       //
                   "requests", (json_int_t)tally->requests,          //
                   "seconds", (double)tally->elapsed_ns / SECOND_NS, //
                   "rate", simulator_tally_rate(tally),              //
                   "wrong", (json_int_t)tally->wrong,                //
                   "errors", errors_json(tally));
}

json_t *report_summary_json(const struct report_summary *summary) {
  const struct simulator_tally *total = summary->total;
  json_t *version = summary->version != 0 ? json_integer(summary->version) : NULL;
  return json_pack(
      "{s:s, s:s, s:o*, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:o, s:o, s:f, s:I, s:s}", //
      "type", "summary",                                                              //
      "program", summary->program,                                                    //
      "version", version,                                                             //
      "seed", (json_int_t)summary->seed,                                              //
      "concurrency", (json_int_t)summary->concurrency,                                //
      "rounds", (json_int_t)summary->rounds,                                          //
      "requests", (json_int_t)total->requests,                                        //
      "seconds", (double)total->elapsed_ns / SECOND_NS,                               //
      "rate", simulator_tally_rate(total),                                            //
      "wrong", (json_int_t)total->wrong,                                              //
      "errors", errors_json(total),                                                   //
      "latency_ms", latency_json(total),                                              //
      "cpu_seconds", summary->cpu_seconds,                                            //
      "minor_page_faults", (json_int_t)summary->minor_page_faults,                    //
      "outcome", summary->outcome);
}

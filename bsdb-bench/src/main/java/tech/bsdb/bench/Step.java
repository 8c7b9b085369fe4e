package tech.bsdb.bench;

/**
 * What is varied from point to point of a run.
 *
 * @param threads threads that look up
 * @param depth lookups that each of them keeps in flight; 1 where they wait for each
 */
record Step(int threads, int depth) {
  /** All lookups that can be under way, but for batches. */
  int inFlight() {
    return threads * depth;
  }
}

package tech.bsdb.bench;

/**
 * The parameters that vary from point to point of a run.
 *
 * @param threads the number of threads that look up keys
 * @param depth the lookups that each thread keeps in flight; 1 if lookups are synchronous
 */
record Step(int threads, int depth) {
  /** The total number of lookups in flight, ignoring batches. */
  int inFlight() {
    return threads * depth;
  }
}

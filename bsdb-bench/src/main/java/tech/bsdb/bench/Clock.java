package tech.bsdb.bench;

/** Tells the time and waits for a time. Tests bring their own. */
interface Clock {
  /** That of the machine. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void await(long dueNanos) {
          Pace.await(dueNanos);
        }
      };

  /** The time, as {@link System#nanoTime} counts it. */
  long nanos();

  /** Waits for a time. */
  void await(long dueNanos);
}

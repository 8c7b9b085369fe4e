package tech.bsdb.bench;

/** Reads the time and waits. Tests substitute their own. */
interface Clock {
  /** The machine's clock. */
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

  /** The current time, on the scale of {@link System#nanoTime}. */
  long nanos();

  /** Waits until the given time. */
  void await(long dueNanos);
}

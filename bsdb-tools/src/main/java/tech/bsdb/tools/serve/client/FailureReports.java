package tech.bsdb.tools.serve.client;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import tech.bsdb.tools.cli.Console;

/** Reports failures that an operator should know of, at most once a second. Thread-safe. */
public final class FailureReports {
  private static final long QUIET_NANOS = 1_000_000_000L;

  private final AtomicLong saidNanos = new AtomicLong(System.nanoTime() - QUIET_NANOS);
  private final LongAdder unsaid = new LongAdder();
  private final Console console;

  /** Reports to a console. */
  public FailureReports(Console console) {
    this.console = console;
  }

  /**
   * Reports a failure.
   *
   * @param request the request that failed, {@link #printable}; empty if it is unknown
   */
  public void failed(String request, Throwable cause) {
    report((request.isEmpty() ? "" : request + ": ") + cause);
  }

  /** Reports a failure, or counts it if another was reported less than a second ago. */
  void report(String failure) {
    long now = System.nanoTime();
    long said = saidNanos.get();
    if (now - said < QUIET_NANOS || !saidNanos.compareAndSet(said, now)) {
      unsaid.increment();
      return;
    }
    long more = unsaid.sumThenReset();
    console.say(
        "bsdb serve: "
            + failure
            + (more == 0 ? "" : " (and " + more + " more failures before it)"));
  }

  /** Returns at most 500 characters of a text, with all but visible ASCII escaped. */
  public static String printable(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < Math.min(text.length(), 500); i++) {
      char c = text.charAt(i);
      if (c > ' ' && c < 127 && c != '"' && c != '\\') {
        out.append(c);
      } else {
        out.append(String.format("\\x%02x", (int) c));
      }
    }
    return out.toString();
  }
}

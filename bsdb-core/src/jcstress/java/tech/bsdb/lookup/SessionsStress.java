package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Sessions that are taken and given back against each other and against closing. */
public class SessionsStress {
  private SessionsStress() {}

  /** Closes; returns whether that was the first call and all sessions came back. */
  private static boolean closed(Sessions sessions) {
    try {
      return sessions.close();
    } catch (IOException e) {
      return false;
    }
  }

  /** What a thread holds, for others to see: two sessions. */
  private static final class Holder {
    volatile @Nullable Session outer;
    volatile @Nullable Session inner;

    /**
     * Takes a session, and another one inside it, as a lookup does that a callback of a lookup
     * begins; gives both back.
     *
     * @return 0: closed; 1: two sessions of its own; 2: one that another has too
     */
    int lookup(Sessions sessions, Holder other) {
      try {
        Session first = sessions.take();
        outer = first;
        try {
          Session second = sessions.take();
          inner = second;
          boolean shared = first == second || other.holds(first) || other.holds(second);
          inner = null;
          second.state = Session.FREE;
          return shared ? 2 : 1;
        } finally {
          outer = null;
          first.state = Session.FREE;
        }
      } catch (IllegalStateException closed) {
        return 0;
      }
    }

    boolean holds(Session session) {
      return session == outer || session == inner;
    }

    boolean holdsAny() {
      return outer != null || inner != null;
    }
  }

  /** Two threads with two sessions each; then whether all come back. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "Nothing is shared or lost.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two threads have one session, or one is lost.")
  @State
  public static class Lookups {
    private final Sessions sessions = new Sessions(Path.of("database"));
    private final Holder one = new Holder();
    private final Holder two = new Holder();

    /** A lookup inside a lookup, twice, so that sessions are taken that came back. */
    @Actor
    public void first(III_Result result) {
      result.r1 = Math.max(one.lookup(sessions, two), one.lookup(sessions, two));
    }

    /** The same by another thread. */
    @Actor
    public void second(III_Result result) {
      result.r2 = Math.max(two.lookup(sessions, one), two.lookup(sessions, one));
    }

    /** What is left. */
    @Arbiter
    public void inTheEnd(III_Result result) {
      result.r3 = closed(sessions) ? 1 : 0;
    }
  }

  /** A lookup while the database is closed: what the lookup met, and what closing met. */
  @JCStressTest
  @Outcome(id = "[01], 1, 1", expect = Expect.ACCEPTABLE, desc = "Before, or refused.")
  @Outcome(id = ".*, 2, .", expect = Expect.FORBIDDEN, desc = "Closed under a lookup.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Open after the end, or a session is shared.")
  @State
  public static class Closing {
    private final Sessions sessions = new Sessions(Path.of("database"));
    private final Holder reader = new Holder();
    private final Holder nobody = new Holder();

    /** A lookup inside a lookup. */
    @Actor
    public void lookup(III_Result result) {
      result.r1 = reader.lookup(sessions, nobody);
    }

    /** Closes the database. */
    @Actor
    public void close(III_Result result) {
      boolean done = closed(sessions);
      result.r2 = done && !reader.holdsAny() ? 1 : 2;
    }

    /** What is left. */
    @Arbiter
    public void inTheEnd(III_Result result) {
      try {
        sessions.take();
        result.r3 = 0;
      } catch (IllegalStateException closed) {
        result.r3 = 1;
      }
    }
  }
}

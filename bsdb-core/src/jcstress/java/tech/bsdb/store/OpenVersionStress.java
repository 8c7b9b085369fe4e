package tech.bsdb.store;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Leases of a version against each other and against its retirement. */
public class OpenVersionStress {
  private OpenVersionStress() {}

  /** A version without a database, which leases do not touch. */
  private static OpenVersion version(Runnable idle) {
    return new OpenVersion(null, "v1", "id", Instant.EPOCH, Duration.ZERO, idle);
  }

  /** 0: no lease; 1: a lease; 2: a lease of a version that counts as idle. */
  private static int read(OpenVersion version) {
    if (!version.tryAcquire()) {
      return 0;
    }
    int met = version.isIdle() ? 2 : 1;
    version.release();
    return met;
  }

  /**
   * A reader while the version is retired: what the reader met, how often somebody was told that
   * the version is idle (2: more than once), and whether it is idle in the end.
   */
  @JCStressTest
  @Outcome(id = "[01], [12], 1", expect = Expect.ACCEPTABLE, desc = "Idle once nobody reads.")
  @Outcome(id = "2, ., .", expect = Expect.FORBIDDEN, desc = "Idle under a reader.")
  @Outcome(id = "., 0, .", expect = Expect.FORBIDDEN, desc = "Nobody would close it.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A lease that never ends.")
  @State
  public static class Retirement {
    private final AtomicInteger told = new AtomicInteger();
    private final OpenVersion version = version(told::incrementAndGet);

    /** A lookup. */
    @Actor
    public void reader(III_Result result) {
      result.r1 = read(version);
    }

    /** The swap to a newer version, which closes this one if nobody reads it. */
    @Actor
    public void swap() {
      version.retire();
      if (version.isIdle()) {
        told.incrementAndGet();
      }
    }

    /** What is left. */
    @Arbiter
    public void inTheEnd(III_Result result) {
      result.r2 = Math.min(2, told.get());
      result.r3 = version.isIdle() ? 1 : 0;
    }
  }

  /** Two readers: what each met, and whether the version is idle once it is retired after them. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "Both leases came back.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A lease was refused or lost.")
  @State
  public static class Readers {
    private final OpenVersion version = version(() -> {});

    /** A lookup. */
    @Actor
    public void first(III_Result result) {
      result.r1 = read(version);
    }

    /** Another lookup. */
    @Actor
    public void second(III_Result result) {
      result.r2 = read(version);
    }

    /** What is left. */
    @Arbiter
    public void inTheEnd(III_Result result) {
      version.retire();
      result.r3 = version.isIdle() ? 1 : 0;
    }
  }

  /**
   * Two leases of a retired version that come back at once: how often somebody is told, and whether
   * the version is idle in the end.
   */
  @JCStressTest
  @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "The last one says so.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Nobody would close it, or two would.")
  @State
  public static class LastLease {
    private final AtomicInteger told = new AtomicInteger();
    private final OpenVersion version = version(told::incrementAndGet);

    /** Two leases of a retired version. */
    public LastLease() {
      if (!version.tryAcquire() || !version.tryAcquire()) {
        throw new IllegalStateException("no lease of a new version");
      }
      version.retire();
    }

    /** One lease comes back. */
    @Actor
    public void first() {
      version.release();
    }

    /** The other comes back. */
    @Actor
    public void second() {
      version.release();
    }

    /** What is left. */
    @Arbiter
    public void inTheEnd(III_Result result) {
      result.r1 = told.get();
      result.r2 = version.isIdle() ? 1 : 0;
    }
  }
}

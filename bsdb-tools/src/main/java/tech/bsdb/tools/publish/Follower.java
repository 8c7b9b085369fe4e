package tech.bsdb.tools.publish;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.publish.FollowedSource.LocalStore;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSources;

/**
 * Keeps a store at the version that a source offers: looks at it from time to time, and pulls what
 * is new. Whatever fails is told, kept in the {@link #status} and tried again after a growing
 * pause. What is pulled once is not pulled again until the source offers something else, so that a
 * rollback of the local store stays.
 *
 * <p>{@link #first} runs on the caller's thread, all else on a thread of its own. Thread-safe.
 */
public final class Follower implements AutoCloseable {
  static final String PROGRAM = "bsdb serve";
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** While there is nothing to serve, pauses are shorter. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  private static final Duration FIRST_LONGEST = Duration.ofMinutes(1);
  private static final long END_MILLIS = 1500;
  private static final long AGAIN_MILLIS = 100;

  private final FollowOptions options;
  private final Console console;
  private final InstantSource clock;
  private final Pauses pauses;
  private final Pauses firstPauses;
  private final FollowStatus status;
  private final Semaphore wake = new Semaphore(0);
  private final ReentrantLock working = new ReentrantLock();
  private final Thread thread = new Thread(this::run, "bsdb-follow");
  private volatile @Nullable Thread worker;
  private volatile boolean closing;

  // guarded by working
  private final FollowedSource source;
  private Duration next = Duration.ZERO;

  /** Follows nothing yet. */
  public Follower(FollowOptions options, Console console) {
    this(
        options,
        console,
        () -> DistantDirectory.open(options.source(), options.access()),
        InstantSource.system(),
        () -> ThreadLocalRandom.current().nextLong());
  }

  Follower(
      FollowOptions options,
      Console console,
      FollowedSource.Opening opening,
      InstantSource clock,
      RandomGenerator random) {
    this.options = options;
    this.console = console;
    this.clock = clock;
    Duration usual = options.interval();
    Duration quick = usual.compareTo(FIRST) < 0 ? usual : FIRST;
    this.pauses = new Pauses(usual, usual.compareTo(LONGEST) > 0 ? usual : LONGEST, random);
    this.firstPauses = new Pauses(quick, FIRST_LONGEST, random);
    this.status = new FollowStatus(options.shownSource());
    this.source = new FollowedSource(options, console, opening, status, clock, this::requireOpen);
  }

  /** The source for everyone to see. */
  public String source() {
    return options.shownSource();
  }

  /** How far this is. */
  public FollowStatus status() {
    return status;
  }

  /**
   * If the store has no version, pulls the first one, however often that needs to be tried.
   *
   * @return whether there is a version; false if this was closed before
   * @throws IOException if trying again is useless
   * @throws UsageException if the directory cannot become a store, or options are wrong
   */
  public boolean first() throws IOException, UsageException {
    if (LocalStore.isFilled(options.store(), options.transfer().trusted())) {
      return true;
    }
    say(options.store() + " has no version yet: pulling one from " + options.shownSource());
    working.lock();
    worker = Thread.currentThread();
    try (Progress shown = new Progress(console, false)) {
      source.show(shown);
      while (!closing) {
        try {
          source.look(/* always= */ true);
          next = succeeded();
          return true;
        } catch (IOException | UsageException | RuntimeException e) {
          if (!closing && isHopeless(e)) {
            throw e;
          }
          await(failed(e, firstPauses));
        }
      }
      say("ended before the first version was here");
      return false;
    } finally {
      source.show(null);
      worker = null;
      boolean unused = closing && Thread.interrupted();
      working.unlock();
    }
  }

  /** Whether the user has to change something before another attempt can succeed. */
  private static boolean isHopeless(Exception failure) {
    return failure instanceof UsageException
        || failure instanceof RuntimeException
        || failure instanceof NoSuchFileException
        || failure instanceof AccessDeniedException
        || failure instanceof NotDirectoryException
        || failure instanceof FileAlreadyExistsException
        || failure instanceof UnsupportedFormatException
        || failure instanceof IOException e && FileSources.isMistake(e);
  }

  /**
   * Starts following.
   *
   * @param pulled called after each pull, on the thread of this
   */
  public void start(Runnable pulled) {
    working.lock();
    try {
      source.afterPulls(pulled);
    } finally {
      working.unlock();
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the pause until the next attempt. */
  public void lookNow() {
    wake.release();
  }

  private void run() {
    working.lock();
    worker = thread;
    boolean unused = LowPriority.take();
    try {
      await(next);
      while (!closing) {
        await(step());
      }
    } finally {
      worker = null;
      source.close();
      working.unlock();
    }
  }

  /** Looks at the source once, and pulls what is new; returns the pause before the next time. */
  Duration step() {
    try {
      source.look(/* always= */ false);
      return succeeded();
    } catch (Throwable e) { // outermost frame of the thread: whatever fails is told
      return failed(e, pauses);
    }
  }

  private void await(Duration pause) {
    try {
      if (!closing && wake.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        wake.drainPermits();
      }
    } catch (InterruptedException e) {
      closing = true;
    }
  }

  private Duration succeeded() {
    if (status.failures() > 0) {
      say(options.shownSource() + " is followed again");
    }
    Duration pause = pauses.next(0);
    status.succeeded(clock.instant().plus(pause));
    return pause;
  }

  private Duration failed(Throwable failure, Pauses growing) {
    source.close(); // opened again, with fresh names and tickets
    Duration pause = growing.next(status.failures() + 1);
    if (closing) {
      return pause;
    }
    Diagnosis diagnosis = Diagnosis.of(failure);
    String why = FollowOptions.withoutPasswords(diagnosis.words());
    Instant now = clock.instant();
    status.failed(why, now, now.plus(pause));
    say(
        "nothing was pulled from %s: %s (trying again in %s s)"
            .formatted(options.shownSource(), why, Math.max(1, pause.toSeconds())));
    if (diagnosis.bug()) {
      StringWriter trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      console.report(trace.toString());
    }
    return pause;
  }

  private void requireOpen() {
    if (closing) {
      throw new CancellationException("the server ends");
    }
  }

  private void say(String words) {
    console.say(PROGRAM + ": " + words);
  }

  /** Begins to end: interrupts a pull, whose files stay for the next one. Does not wait. */
  public void stop() {
    closing = true;
    wake.release();
    Thread running = worker;
    if (running != null) {
      running.interrupt();
    }
  }

  /** Ends, and waits for that for at most 1.5 s. */
  @Override
  public void close() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
    try {
      do {
        stop(); // again, because libraries swallow interrupts
        if (working.tryLock(AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
          source.close();
          working.unlock();
          return;
        }
      } while (System.nanoTime() < end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The pauses between two looks at a source. They grow with each failure, and vary by a quarter,
   * so that the servers of a fleet do not ask at the same moment.
   *
   * @param usual the pause after a success, and after the first failure
   * @param longest what the pauses after failures grow up to
   */
  record Pauses(Duration usual, Duration longest, RandomGenerator random) {
    private static final int MOST_DOUBLINGS = 30;

    /**
     * The next pause.
     *
     * @param failures how many attempts failed in a row
     */
    Duration next(int failures) {
      double seconds = usual.toMillis() / 1e3;
      if (failures > 0) {
        double grown = seconds * (1L << Math.min(failures - 1, MOST_DOUBLINGS));
        seconds = Math.min(grown, longest.toMillis() / 1e3);
      }
      return Duration.ofMillis(Math.round(seconds * 1e3 * (0.75 + random.nextDouble() / 2)));
    }
  }
}

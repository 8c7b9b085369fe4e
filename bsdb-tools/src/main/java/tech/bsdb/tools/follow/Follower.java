package tech.bsdb.tools.follow;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
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
import tech.bsdb.store.Offer;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.publish.Publishing;
import tech.bsdb.tools.publish.Pull;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.transfer.TransferListener;

/**
 * Keeps a store at the version that a source offers: looks at it from time to time, and pulls what
 * is new. Whatever fails is told, kept in the {@link #status} and tried again after a growing
 * pause. What is pulled once is not pulled again until the source offers something else, so that a
 * rollback of the local store stays.
 *
 * <p>{@link #first} runs on the caller's thread, all else on a thread of its own. Thread-safe.
 */
public final class Follower implements AutoCloseable {
  private static final String PROGRAM = "bsdb serve";
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** While there is nothing to serve, pauses are shorter. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  private static final Duration FIRST_LONGEST = Duration.ofMinutes(1);
  private static final long END_MILLIS = 1500;
  private static final long AGAIN_MILLIS = 100;

  private final FollowOptions options;
  private final Console console;
  private final Opening opening;
  private final InstantSource clock;
  private final Pauses pauses;
  private final Pauses firstPauses;
  private final FollowStatus status;
  private final Semaphore wake = new Semaphore(0);
  private final ReentrantLock working = new ReentrantLock();
  private final Thread thread = new Thread(this::run, "bsdb-follow");
  private volatile @Nullable Thread worker;
  private volatile boolean closing;
  private volatile @Nullable Progress progress;

  // guarded by working
  private @Nullable DistantDirectory source;
  private Duration next = Duration.ZERO;
  private Runnable pulled = () -> {};

  /** Opens the source. */
  @FunctionalInterface
  interface Opening {
    DistantDirectory open() throws IOException;
  }

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
      Opening opening,
      InstantSource clock,
      RandomGenerator random) {
    this.options = options;
    this.console = console;
    this.opening = opening;
    this.clock = clock;
    Duration usual = options.interval();
    Duration quick = usual.compareTo(FIRST) < 0 ? usual : FIRST;
    this.pauses = new Pauses(usual, usual.compareTo(LONGEST) > 0 ? usual : LONGEST, random);
    this.firstPauses = new Pauses(quick, FIRST_LONGEST, random);
    this.status = new FollowStatus(options.shownSource());
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
    if (LocalStore.isFilled(options.store())) {
      return true;
    }
    say(options.store() + " has no version yet: pulling one from " + options.shownSource());
    working.lock();
    worker = Thread.currentThread();
    try (Progress shown = new Progress(console, false)) {
      progress = shown;
      while (!closing) {
        try {
          look(/* always= */ true);
          next = succeeded();
          return true;
        } catch (IOException | UsageException | RuntimeException e) {
          if (!closing && isHopeless(e)) {
            throw e;
          }
          await(failed(e, firstPauses));
        }
      }
      return false;
    } finally {
      progress = null;
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
      this.pulled = pulled;
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
    try {
      await(next);
      while (!closing) {
        await(step());
      }
    } finally {
      worker = null;
      closeSource();
      working.unlock();
    }
  }

  /** Looks at the source once, and pulls what is new; returns the pause before the next time. */
  Duration step() {
    try {
      look(/* always= */ false);
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
    closeSource(); // opened again, with fresh names and tickets
    Duration pause = growing.next(status.failures() + 1);
    if (closing) {
      return pause;
    }
    Diagnosis diagnosis = Diagnosis.of(failure);
    String why = FollowOptions.withoutPasswords(diagnosis.words());
    Instant now = clock.instant();
    status.failed(why, now, now.plus(pause));
    say(
        "nothing was pulled from "
            + options.shownSource()
            + ": "
            + why
            + " (trying again in "
            + Math.max(1, pause.toSeconds())
            + " s)");
    if (diagnosis.bug()) {
      StringWriter trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      console.say(trace.toString().stripTrailing());
    }
    return pause;
  }

  /**
   * Reads what the source offers, and pulls it if it is new.
   *
   * @param always whether to pull even what was pulled before
   */
  private void look(boolean always) throws IOException, UsageException {
    status.checking();
    DistantDirectory from = source == null ? opening.open() : source;
    source = from;
    Watch watch = new Watch();
    Offer offer;
    try {
      offer = Offer.read(from, options.transfer().withListener(watch), () -> requireOpen());
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
    Path store = options.store();
    boolean isNew = always || !LocalStore.hasPulled(store, offer.databaseId());
    status.offered(offer.version(), offer.databaseId(), isNew, clock.instant());
    if (isNew) {
      status.pulling();
      PublishOptions publishing = PublishOptions.defaults().withListener(watch);
      new Pull(
              from,
              store,
              publishing,
              options.transfer().withListener(watch),
              options.checks(),
              /* verify= */ false)
          .run(PROGRAM, console, /* quiet= */ false, watch);
    }
  }

  private void requireOpen() {
    if (closing) {
      throw new CancellationException("the server ends");
    }
  }

  private void say(String words) {
    console.say(PROGRAM + ": " + words);
  }

  /** Notes what happens during an attempt. */
  private final class Watch implements Pull.Steps, PublishListener, TransferListener {
    @Override
    public void begins(Publication publication) {
      requireOpen();
    }

    @Override
    public void waiting() {
      say("another publish to " + options.store() + " is running; waiting for it to finish");
    }

    @Override
    public void arrived(long doneBytes, long allBytes) {
      status.arrived(doneBytes, allBytes);
      Progress shown = progress;
      if (shown != null) {
        shown.update("pull", doneBytes, allBytes);
      }
    }

    @Override
    public void received(long bytes) {
      status.received(bytes);
    }

    @Override
    public void retrying(String location, String why, Duration pause) {
      String words = FollowOptions.withoutPasswords(location + ": " + why);
      status.retrying(words);
      if (progress != null) { // nothing is served yet
        say(words + " (trying again in " + pause.toMillis() / 1e3 + " s)");
      }
    }

    @Override
    public void arrived() {
      status.comparing();
    }

    @Override
    public void upToDate(Publication publication) {
      // another process pulled it meanwhile
    }

    @Override
    public void published(Publication publication, Publishing report) {
      status.pulled(publication.version(), clock.instant());
      pulled.run();
      report.forPeople(report.keep(options.keep())).forEach(Follower.this::say);
      publication.warnings().forEach(what -> say("warning: " + what));
    }
  }

  private void closeSource() {
    DistantDirectory open = source;
    source = null;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException unusable) {
      // it is not used any more, and what failed before was told
    }
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
          closeSource();
          working.unlock();
          return;
        }
      } while (System.nanoTime() < end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

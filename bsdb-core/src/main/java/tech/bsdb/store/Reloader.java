package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.Database;

/**
 * The thread that follows a directory: all looking, opening, swapping and closing happens on it.
 * What others need of it are volatile fields.
 */
final class Reloader {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadingDatabase.class);

  /**
   * What was refused is tried again at growing intervals, from that of looking up to this, so that
   * what becomes whole is followed within 10 s.
   */
  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);

  private final Path directory;
  private final boolean store;
  private final Opening opening;
  private final ReloadListener listener;
  private final long poll;
  private final Thread thread = new Thread(this::run, "bsdb-reload");
  private final Queue<CompletableFuture<Boolean>> asked = new ArrayDeque<>(); // guards itself
  private boolean ended; // guarded by asked
  private volatile boolean closing;
  private volatile @Nullable OpenVersion served;
  private volatile @Nullable Refusal refused;
  private final AtomicLong swaps = new AtomicLong();

  // known to the thread alone
  private final List<OpenVersion> retired = new ArrayList<>();
  private @Nullable NamedVersion followed;
  private @Nullable ManifestStamp stamp;
  private @Nullable Attempt failed;
  private @Nullable NamedVersion unfinished;
  private boolean nothingNamed;

  /** A version that was refused, and when it is tried again. */
  private record Attempt(
      NamedVersion target, @Nullable ManifestStamp stamp, long next, long pause) {
    boolean isOf(NamedVersion other, @Nullable ManifestStamp now) {
      return target.directory().equals(other.directory()) && Objects.equals(stamp, now);
    }
  }

  Reloader(Path directory, boolean store, Opening opening, ReloadOptions options) {
    this.directory = directory;
    this.store = store;
    this.opening = opening;
    this.listener = options.listener();
    this.poll = options.poll().toNanos();
  }

  /** Opens the first version on the caller's thread, and begins to follow. */
  void start(NamedVersion first) throws IOException {
    stamp = ManifestStamp.of(first.directory());
    followed = first;
    OpenVersion opened = opening.open(first, () -> false, this::wake);
    served = opened;
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (Error e) { // no thread to be had
      opened.database.close();
      throw e;
    }
  }

  @Nullable OpenVersion served() {
    return served;
  }

  @Nullable Refusal refused() {
    return refused;
  }

  long swaps() {
    return swaps.get();
  }

  boolean followsStore() {
    return store;
  }

  boolean reload() throws IOException {
    refuseOnOwnThread();
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    synchronized (asked) {
      if (ended || closing) {
        throw new IllegalStateException("the database is closed");
      }
      asked.add(answer);
    }
    wake();
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IllegalStateException) {
        throw new IllegalStateException("the database is closed", e);
      }
      throw new IOException(
          ErrorText.of(Objects.requireNonNullElse(e.getCause(), e)), e.getCause());
    }
  }

  void close() {
    refuseOnOwnThread();
    closing = true;
    wake();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void refuseOnOwnThread() {
    if (Thread.currentThread() == thread) {
      throw new IllegalStateException("a listener must not wait for the thread that called it");
    }
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    long next = System.nanoTime() + poll;
    while (!closing) {
      closeIdle();
      answerAsked();
      long now = System.nanoTime();
      if (now - next >= 0) {
        lookQuietly();
        now = System.nanoTime();
        next = now + poll;
      }
      if (!closing && nothingAsked() && !anyIdle()) {
        LockSupport.parkNanos(this, next - now);
        Thread.interrupted(); // nobody's business; it would keep us from parking
      }
    }
    OpenVersion last = served;
    served = null;
    if (last != null) {
      last.retire();
      retired.add(last);
    }
    endAsking();
    closeIdle();
    while (!retired.isEmpty()) {
      LockSupport.park(this);
      Thread.interrupted();
      closeIdle();
    }
  }

  private boolean anyIdle() {
    return retired.stream().anyMatch(OpenVersion::isIdle);
  }

  private void closeIdle() {
    for (Iterator<OpenVersion> all = retired.iterator(); all.hasNext(); ) {
      OpenVersion old = all.next();
      if (old.isIdle()) {
        all.remove();
        close(old);
      }
    }
  }

  private void close(OpenVersion old) {
    IOException failure = null;
    try {
      old.database.close();
    } catch (IOException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = new IOException("could not close " + old.version + ": " + ErrorText.of(e), e);
    }
    if (failure != null) {
      LOG.warn("{}: version {} could not be closed", directory, old.version, failure);
    }
    IOException told = failure;
    tell(() -> listener.closed(old.version, told));
  }

  private boolean nothingAsked() {
    synchronized (asked) {
      return asked.isEmpty();
    }
  }

  private void answerAsked() {
    while (true) {
      CompletableFuture<Boolean> answer;
      synchronized (asked) {
        answer = asked.poll();
      }
      if (answer == null) {
        return;
      }
      try {
        answer.complete(look(true));
      } catch (Throwable e) {
        answer.completeExceptionally(e instanceof IOException ? e : new IOException(e));
      }
    }
  }

  private void endAsking() {
    synchronized (asked) {
      ended = true;
      asked.forEach(answer -> answer.completeExceptionally(new IllegalStateException("closed")));
      asked.clear();
    }
  }

  /** Looks; that what was found is refused, {@link #refused} tells. */
  private void lookQuietly() {
    try {
      look(false);
    } catch (IOException told) {
      // by refused()
    }
  }

  /**
   * Looks for another version, and swaps.
   *
   * @param now whether to try at once what was refused before
   * @return whether another version is served now
   * @throws IOException why it was refused
   */
  private boolean look(boolean now) throws IOException {
    NamedVersion target;
    try {
      target = store ? NamedVersion.ofStore(directory) : NamedVersion.ofDatabase(directory);
    } catch (IOException e) {
      throw refuse("", e);
    }
    if (target == null) {
      return nothingNamed(now);
    }
    nothingNamed = false;
    boolean settled = target.whole() || target.equals(unfinished);
    unfinished = target;
    if (!settled && !now) {
      return false; // may be the beginning of a longer name
    }
    ManifestStamp found = ManifestStamp.of(target.directory());
    boolean same = followed != null && followed.directory().equals(target.directory());
    if (same && found != null && found.equals(stamp)) {
      accept(target, found);
      return false;
    }
    Attempt before = failed;
    if (before == null || !before.isOf(target, found)) {
      return open(target, found, same, poll);
    }
    if (!now && System.nanoTime() - before.next < 0) {
      return false;
    }
    return open(target, found, same, Math.min(2 * before.pause, Math.max(poll, LONGEST_PAUSE)));
  }

  private boolean open(NamedVersion target, @Nullable ManifestStamp found, boolean same, long pause)
      throws IOException {
    OpenVersion old = Objects.requireNonNull(served);
    try {
      target.mustExist();
      if (same && Database.statistics(target.directory()).databaseId().equals(old.id)) {
        accept(target, found);
        return false;
      }
      OpenVersion next = opening.open(target, () -> closing, this::wake);
      accept(target, found);
      served = next;
      swaps.incrementAndGet();
      old.retire();
      retired.add(old);
      LOG.info(
          "{}: version {} is live in place of {}, opened in {} ms",
          directory,
          next.version,
          old.version,
          next.openTook.toMillis());
      tell(() -> listener.opened(next.version, next.openTook));
      closeIdle();
      return true;
    } catch (Throwable e) {
      failed = new Attempt(target, found, System.nanoTime() + pause, pause);
      throw refuse(target.label(), e);
    }
  }

  private void accept(NamedVersion target, @Nullable ManifestStamp found) {
    followed = target;
    stamp = found;
    failed = null;
    refused = null;
  }

  /**
   * The pointer names nothing: perhaps it is just being written. What is served goes on; only if it
   * stays so it is told.
   */
  private boolean nothingNamed(boolean now) throws IOException {
    if (nothingNamed || now) {
      throw refuse(
          "",
          new NoSuchFileException(
              directory.resolve(Pointer.FILE).toString(), null, "names no version"));
    }
    nothingNamed = true;
    return false;
  }

  private IOException refuse(String version, Throwable why) {
    String reason = ErrorText.of(why);
    Refusal known = refused;
    if (known == null || !known.version().equals(version) || !known.reason().equals(reason)) {
      Refusal refusal = new Refusal(new Refusal.Facts(version, reason, Instant.now()));
      refused = refusal;
      OpenVersion live = served;
      LOG.warn(
          "{}: version {} is refused, {} goes on serving: {}",
          directory,
          version.isEmpty() ? "(none named)" : version,
          live == null ? "nothing" : live.version,
          reason);
      tell(() -> listener.refused(refusal));
    }
    return why instanceof IOException e ? e : new IOException(reason, why);
  }

  private void tell(Runnable event) {
    try {
      event.run();
    } catch (Throwable thrown) { // checked exceptions that it does not declare included
      try {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
      } catch (Throwable ignored) {
        // As the virtual machine does: there is nobody left to tell, and reloading must go on.
      }
    }
  }
}

package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
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
import tech.bsdb.IoCounters;
import tech.bsdb.io.Memory;
import tech.bsdb.io.Uninterrupted;
import tech.bsdb.remote.RemoteTraffic;

/**
 * The thread that follows a store or a database: it does all checking, opening, swapping and
 * closing. Other threads see its state through volatile fields.
 */
final class Reloader {
  private static final Logger LOG = LoggerFactory.getLogger(ReloadingDatabase.class);

  /**
   * Rejected versions are retried at growing intervals, from the poll interval up to this, so that
   * a version that becomes complete is picked up within 10 s.
   */
  private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(5);

  /** The least time between two requests to release the memory of closed versions. */
  private static final long COLLECTION_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The least time between two checks that reads ask for. */
  private static final long LEAST_PAUSE = TimeUnit.SECONDS.toNanos(1);

  private final Followed source;
  private final ReloadListener listener;
  private final long poll;
  private final Preload preload;
  private final Thread thread = new Thread(this::run, "bsdb-reload");
  private final Queue<CompletableFuture<Boolean>> requests = new ArrayDeque<>(); // guards itself
  private boolean ended; // guarded by requests
  private volatile boolean closing;
  private volatile @Nullable OpenVersion served;
  private volatile @Nullable Refusal refused;
  private final AtomicLong swaps = new AtomicLong();
  private final List<Database> open = new ArrayList<>(); // guards itself and the reads
  private IoCounters readsOfClosed = new IoCounters(0, 0);
  private RemoteTraffic askedAgainByClosed = RemoteTraffic.NONE;

  /** Whether a read found that the files of the version may have gone. */
  private volatile boolean doubted;

  /** Whether a read found that files of the version were replaced. */
  private volatile boolean replaced;

  private final Object interrupts = new Object(); // held so that an interrupt is not late
  private boolean interruptible; // guarded by interrupts

  // confined to the reload thread
  private final List<OpenVersion> retired = new ArrayList<>();
  private @Nullable NamedVersion followed;
  private @Nullable Object stamp;
  private @Nullable Attempt failed;
  private @Nullable NamedVersion unfinished;
  private boolean nothingNamed;

  /** Whether a version was closed since the last {@link Memory#collectReleased}. */
  private boolean uncollected;

  /** A rejected version and when to retry it. */
  private record Attempt(NamedVersion target, @Nullable Object stamp, long next, long pause) {
    boolean isOf(NamedVersion other, @Nullable Object now) {
      return Objects.equals(target.version(), other.version()) && Objects.equals(stamp, now);
    }
  }

  Reloader(Followed source, ReloadOptions options) {
    this.source = source;
    this.listener = options.listener();
    this.poll = options.poll().toNanos();
    this.preload = options.preload();
  }

  /** Opens the first version on the caller's thread, then starts following. */
  void start(NamedVersion first) throws IOException {
    stamp = source.stamp(first);
    followed = first;
    OpenVersion opened = open(first);
    opened(opened);
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (Error e) { // no thread available
      opened.database.close();
      throw e;
    }
  }

  private OpenVersion open(NamedVersion target) throws IOException {
    long began = System.nanoTime();
    Database database = source.open(target, () -> closing);
    try {
      String id = database.statistics().databaseId();
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      String version = target.version() == null ? id : target.version();
      return new OpenVersion(database, version, id, Instant.now(), took, this::wake);
    } catch (RuntimeException | Error e) {
      database.close();
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

  IoCounters ioCounters() {
    synchronized (open) {
      return open.stream().map(Database::ioCounters).reduce(readsOfClosed, IoCounters::plus);
    }
  }

  @Nullable RemoteTraffic traffic() {
    RemoteTraffic asked = source.traffic();
    if (asked == null) {
      return null;
    }
    synchronized (open) {
      RemoteTraffic known = asked.plus(askedAgainByClosed);
      return open.stream().map(Reloader::askedAgain).reduce(known, RemoteTraffic::plus);
    }
  }

  private static RemoteTraffic askedAgain(Database by) {
    RemoteTraffic all = by.remoteTraffic();
    return all == null ? RemoteTraffic.NONE : new RemoteTraffic(0, 0, all.retries(), all.hedges());
  }

  private void opened(OpenVersion version) {
    synchronized (open) {
      open.add(version.database);
    }
    served = version;
    if (source.isDistant() && preload != Preload.NONE) {
      preload(version);
    }
  }

  /** Starts to bring files to the pages on disk, beside lookups. */
  private void preload(OpenVersion version) {
    long[] tenth = {-1};
    long began = System.nanoTime();
    CompletableFuture<Void> unused =
        version
            .database
            .preload(
                preload == Preload.ALL,
                (bytes, all) -> {
                  long now = all == 0 ? 10 : 10 * bytes / all;
                  if (now > tenth[0]) {
                    tenth[0] = now;
                    report(() -> listener.preloading(version.version, bytes, all));
                  }
                })
            .handle(
                (bytes, failure) -> {
                  String where = source.location("");
                  if (failure == null) {
                    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
                    LOG.info(
                        "{}: {} bytes of version {} are on disk after {} ms",
                        where,
                        bytes,
                        version.version,
                        took);
                  } else if (failure instanceof IOException e) {
                    LOG.warn("{}: version {} is not preloaded", where, version.version, e);
                    report(() -> listener.notPreloaded(version.version, e));
                  }
                  return null;
                });
  }

  Followed source() {
    return source;
  }

  /** Has the version checked soon, since a read found that its files may have gone. */
  void doubt() {
    if (!doubted) {
      doubted = true;
      wake();
    }
  }

  /** Has the version opened again soon, since a read found that its files were replaced. */
  void reopen() {
    replaced = true;
    doubt();
  }

  boolean reload() throws IOException {
    refuseOnOwnThread();
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    synchronized (requests) {
      if (ended || closing) {
        throw new IllegalStateException("the database is closed");
      }
      requests.add(answer);
    }
    wake();
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IllegalStateException) {
        throw new IllegalStateException("the database is closed", e);
      }
      throw new IOException(text(Objects.requireNonNullElse(e.getCause(), e)), e.getCause());
    }
  }

  void close() {
    refuseOnOwnThread();
    closing = true;
    synchronized (interrupts) {
      if (interruptible) {
        thread.interrupt(); // it may be waiting for a network
      }
    }
    wake();
    Uninterrupted.join(thread);
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
    long checked = System.nanoTime();
    long next = checked + poll;
    long collection = checked;
    while (!closing) {
      closeIdle();
      answerRequests();
      long now = System.nanoTime();
      if (doubted) {
        next = Math.min(next - now, checked + LEAST_PAUSE - now) + now;
      }
      if (now - next >= 0) {
        checkQuietly();
        now = System.nanoTime();
        checked = now;
        next = now + poll;
      }
      if (uncollected && now - collection >= 0) {
        uncollected = false;
        Memory.collectReleased();
        now = System.nanoTime();
        collection = now + COLLECTION_NANOS;
      }
      if (!closing && noRequests() && !anyIdle()) {
        long wait = next - now;
        LockSupport.parkNanos(this, uncollected ? Math.min(wait, collection - now) : wait);
        Thread.interrupted(); // clear the flag: it would keep us from parking
      }
    }
    OpenVersion last = served;
    served = null;
    if (last != null) {
      last.retire();
      retired.add(last);
    }
    endRequests();
    closeIdle();
    while (!retired.isEmpty()) {
      LockSupport.park(this);
      Thread.interrupted();
      closeIdle();
    }
    try {
      source.close();
    } catch (IOException e) {
      LOG.warn("{}", e.getMessage(), e);
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
      failure = new IOException("could not close " + old.version + ": " + text(e), e);
    }
    synchronized (open) {
      open.remove(old.database);
      readsOfClosed = readsOfClosed.plus(old.database.ioCounters());
      askedAgainByClosed = askedAgainByClosed.plus(askedAgain(old.database));
    }
    uncollected = true;
    if (failure != null) {
      LOG.warn("{}: version {} could not be closed", source.location(""), old.version, failure);
    }
    IOException closeFailure = failure;
    report(() -> listener.closed(old.version, closeFailure));
  }

  private boolean noRequests() {
    synchronized (requests) {
      return requests.isEmpty();
    }
  }

  private void answerRequests() {
    while (true) {
      CompletableFuture<Boolean> answer;
      synchronized (requests) {
        answer = requests.poll();
      }
      if (answer == null) {
        return;
      }
      try {
        answer.complete(check(true));
      } catch (Throwable e) {
        answer.completeExceptionally(e instanceof IOException ? e : new IOException(e));
      }
    }
  }

  private void endRequests() {
    synchronized (requests) {
      ended = true;
      requests.forEach(answer -> answer.completeExceptionally(new IllegalStateException("closed")));
      requests.clear();
    }
  }

  /** Checks for a new version; {@link #refused} reports a rejection. */
  private void checkQuietly() {
    try {
      check(false);
    } catch (IOException rejected) {
      // reported by refused()
    }
  }

  /**
   * Checks for a new version and swaps to it.
   *
   * @param now whether to retry a rejected version immediately
   * @return whether a new version is now served
   * @throws IOException if the version was rejected
   */
  private boolean check(boolean now) throws IOException {
    interruptible(source.isDistant());
    try {
      if (closing && source.isDistant()) {
        throw new IOException("the database is being closed");
      }
      return look(now);
    } finally {
      interruptible(false);
    }
  }

  private void interruptible(boolean on) {
    synchronized (interrupts) {
      interruptible = on;
      Thread.interrupted(); // clears what came before
    }
  }

  private boolean look(boolean now) throws IOException {
    boolean reopened = replaced;
    if (doubted) {
      replaced = false;
      doubted = false;
      stamp = null; // the files may have gone, whatever it says
    }
    NamedVersion target;
    try {
      target = source.named();
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
    Object found = source.stamp(target);
    boolean same = followed != null && Objects.equals(followed.version(), target.version());
    if (same && found != null && found.equals(stamp)) {
      accept(target, found);
      return false;
    }
    Attempt before = failed;
    if (before == null || !before.isOf(target, found)) {
      return open(target, found, same && !reopened, poll);
    }
    if (!now && System.nanoTime() - before.next < 0) {
      return false;
    }
    return open(
        target, found, same && !reopened, Math.min(2 * before.pause, Math.max(poll, MAX_PAUSE)));
  }

  private boolean open(NamedVersion target, @Nullable Object found, boolean same, long pause)
      throws IOException {
    OpenVersion old = Objects.requireNonNull(served);
    try {
      if (same && source.id(target).equals(old.id)) {
        accept(target, found);
        return false;
      }
      OpenVersion next = open(target);
      accept(target, found);
      opened(next);
      swaps.incrementAndGet();
      old.retire();
      retired.add(old);
      LOG.info(
          "{}: version {} is live, replacing {}; opened in {} ms",
          source.location(""),
          next.version,
          old.version,
          next.openTook.toMillis());
      report(() -> listener.opened(next.version, next.openTook));
      closeIdle();
      return true;
    } catch (Throwable e) {
      failed = new Attempt(target, found, System.nanoTime() + pause, pause);
      throw refuse(Objects.requireNonNullElseGet(target.version(), source::name), e);
    }
  }

  private void accept(NamedVersion target, @Nullable Object found) {
    followed = target;
    stamp = found;
    failed = null;
    refused = null;
  }

  /**
   * The pointer names nothing, perhaps because it is being written. The served version stays; the
   * condition is reported only if it persists.
   */
  private boolean nothingNamed(boolean now) throws IOException {
    if (nothingNamed || now) {
      throw refuse(
          "", new NoSuchFileException(source.location(Pointer.FILE), null, "names no version"));
    }
    nothingNamed = true;
    return false;
  }

  private IOException refuse(String version, Throwable why) {
    String reason = text(why);
    IOException failure = why instanceof IOException e ? e : new IOException(reason, why);
    if (closing) { // and perhaps interrupted by that
      return failure;
    }
    Refusal known = refused;
    if (known == null || !known.version().equals(version) || !known.reason().equals(reason)) {
      Refusal refusal = new Refusal(version, reason, Instant.now());
      refused = refusal;
      OpenVersion live = served;
      LOG.warn(
          "{}: version {} is refused, {} keeps serving: {}",
          source.location(""),
          version.isEmpty() ? "(none named)" : version,
          live == null ? "nothing" : live.version,
          reason);
      report(() -> listener.refused(refusal));
    }
    return failure;
  }

  private void report(Runnable event) {
    try {
      event.run();
    } catch (Throwable thrown) { // including undeclared checked exceptions
      try {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
      } catch (Throwable ignored) {
        // Ignored, as the virtual machine does; reloading must go on.
      }
    }
  }

  /** A failure as one line of text for users. */
  private static String text(Throwable failure) {
    String message = failure.getMessage();
    if (failure instanceof FileSystemException e && e.getReason() == null) {
      if (failure instanceof NoSuchFileException) {
        return e.getFile() + ": no such file or directory";
      }
      if (failure instanceof AccessDeniedException) {
        return e.getFile() + ": permission denied";
      }
    }
    if (message == null || message.isBlank()) {
      return failure
          .getClass()
          .getSimpleName()
          .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
          .toLowerCase(Locale.ROOT);
    }
    return message.replaceAll("\\s*\\R\\s*", " ");
  }
}

package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.VersionPointer;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Consignment.Part;

/**
 * Sends a database to a distant store as a new version. The files come first, then the manifests,
 * and last the pointer to the current version, so that a reader of the store sees the old version
 * or the new one. A version that was not completed has a file {@code .pushing} with the id of its
 * database, by which the next push of the same database finds and continues it.
 *
 * <p>One thread runs {@link #send} and then {@link #keep}; any thread may {@link #cancel}.
 */
final class Push implements AutoCloseable {
  /** Marks a version that is not complete, and holds the id of its database. */
  static final String MARKER = ".pushing";

  private static final String POINTER = VersionPointer.FILE;
  private static final int MOST_BYTES = 1 << 24;
  private static final Duration STALE = Duration.ofDays(1);
  private static final long UNDO_SECONDS = 15;

  /** Receives what happens, from any thread. */
  interface Follower {
    /** Reports how many bytes are at the store, of how many. */
    void sent(long doneBytes, long allBytes);

    /** Reports that something failed and is tried again. */
    void retrying(String why);
  }

  /**
   * How to push.
   *
   * @param version the name of the version, or null for the time
   * @param threads how many files are sent at once
   * @param pauseMillis the pauses before further attempts at whatever failed
   */
  record Manner(@Nullable String version, int threads, List<Long> pauseMillis) {}

  private final Consignment database;
  private final DistantDirectory store;
  private final Manner manner;
  private final Follower follower;
  private final ExecutorService pool;
  private final List<String> warnings = new ArrayList<>();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicInteger kept = new AtomicInteger();
  private volatile boolean stopped;
  private @Nullable VersionPointer before;
  private String version = "";
  private boolean live;
  private boolean unchanged;

  Push(Consignment database, DistantDirectory store, Manner manner, Follower follower) {
    this.database = database;
    this.store = store;
    this.manner = manner;
    this.follower = follower;
    this.pool =
        Executors.newFixedThreadPool(
            manner.threads(),
            task -> {
              Thread thread = new Thread(task, "push");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** The name of the version, once {@link #send} has returned. */
  String version() {
    return version;
  }

  /** The name of the version that was current before, or null. */
  @Nullable String previous() {
    return before == null ? null : before.current();
  }

  /** Whether the store's current version was this database already, so that nothing was sent. */
  boolean isUnchanged() {
    return unchanged;
  }

  /** The number of bytes sent, those of failed attempts included. */
  long sentBytes() {
    return sent.get();
  }

  /** The number of files that an earlier push had sent. */
  int keptFiles() {
    return kept.get();
  }

  /** What did not go well although the version is current. */
  synchronized List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Sends the database and makes it current, unless it is.
   *
   * @throws CorruptDatabaseException if a file of the database is damaged; nothing changes then
   * @throws IOException if the destination fails; the message names the file and is meant for users
   */
  void send() throws IOException {
    List<Entry> entries = storeEntries();
    before = pointer();
    if (before != null && database.databaseId().equals(idOf(before.current()))) {
      version = before.current();
      unchanged = true;
      live = true;
      afterwards(MARKER, () -> store.delete(inVersion(MARKER)));
      return;
    }
    Map<String, Long> there = choose(entries);
    byte[] marker = (database.databaseId() + "\n").getBytes(UTF_8);
    retried(
        inVersion(MARKER), () -> store.write(inVersion(MARKER), new ByteArrayInputStream(marker)));
    List<Part> manifests = database.manifests();
    Part last = manifests.get(manifests.size() - 1);
    together(database.files(), there);
    together(manifests.subList(0, manifests.size() - 1), there);
    checkArrived();
    together(List.of(last), there);
    goLive();
  }

  // What is there

  private List<Entry> storeEntries() throws IOException {
    List<Entry> entries;
    try {
      entries = retried("", () -> store.list(""));
    } catch (NotDirectoryException e) {
      throw refused("", "is not a directory; choose another directory for the store");
    } catch (NoSuchFileException notYet) {
      entries = List.of();
    }
    if (has(entries, Consignment.MANIFEST)) {
      throw refused("", "is a single database, not a store; choose another directory");
    }
    if (has(entries, POINTER)) {
      return entries;
    }
    for (Entry entry : entries) {
      boolean ours =
          entry.name().startsWith(".")
              || entry.name().equals("lost+found")
              || (isVersion(entry) && !Consignment.isShardDirectory(entry.name()) && isOurs(entry));
      if (!ours) {
        throw refused(
            "",
            "is not a store: it has no "
                + POINTER
                + " and contains other files, such as "
                + entry.name()
                + "; choose another directory");
      }
    }
    refuseInside(POINTER, "another store; to push a version of that name, use --version");
    refuseInside(Consignment.MANIFEST, "a database; choose another directory");
    return entries;
  }

  private static boolean has(List<Entry> entries, String name) {
    return entries.stream().anyMatch(entry -> entry.name().equals(name) && !entry.directory());
  }

  private static boolean isVersion(Entry entry) {
    return entry.directory() && VersionPointer.isVersionName(entry.name());
  }

  private boolean isOurs(Entry entry) throws IOException {
    List<Entry> below = listed(entry.name());
    return has(below, Consignment.MANIFEST) || has(below, MARKER);
  }

  private void refuseInside(String file, String what) throws IOException {
    try (InputStream in = store.open("../" + file, 0)) {
      if (in.read() < 0) {
        return;
      }
    } catch (IOException notThere) {
      return;
    }
    throw refused("", "lies inside " + what);
  }

  private FileAlreadyExistsException refused(String file, String why) {
    return new FileAlreadyExistsException(store.location(file), null, why);
  }

  private List<Entry> listed(String directory) throws IOException {
    try {
      return retried(directory, () -> store.list(directory));
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  private byte @Nullable [] content(String file) throws IOException {
    try {
      return retried(
          file,
          () -> {
            try (InputStream in = store.open(file, 0)) {
              return in.readNBytes(MOST_BYTES);
            }
          });
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  private @Nullable VersionPointer pointer() throws IOException {
    byte[] bytes = content(POINTER);
    return bytes == null ? null : VersionPointer.decode(bytes);
  }

  private @Nullable String idOf(String other) throws IOException {
    byte[] manifest = content(other + "/" + Consignment.MANIFEST);
    return manifest == null ? null : Consignment.databaseId(manifest);
  }

  private boolean isMarkedOurs(String other) throws IOException {
    byte[] marker = content(other + "/" + MARKER);
    return marker != null && database.databaseId().equals(new String(marker, UTF_8).strip());
  }

  private boolean isNamed(String other) {
    return before != null && (before.current().equals(other) || before.previous().contains(other));
  }

  /** Chooses the name of the version; returns the lengths of the files that are there already. */
  private Map<String, Long> choose(List<Entry> entries) throws IOException {
    String wanted = manner.version();
    if (wanted != null) {
      version = wanted;
      if (entries.stream().noneMatch(entry -> entry.name().equals(wanted))) {
        return Map.of();
      }
      if (isNamed(wanted) || !isMarkedOurs(wanted)) {
        throw refused(
            wanted, "a version with this name already exists; choose another with --version");
      }
      return lengths();
    }
    String begun =
        unfinished(entries).stream()
            .map(Entry::name)
            .max(VersionPointer.naturalOrder())
            .orElse(null);
    if (begun != null) {
      version = begun;
      return lengths();
    }
    String time = VersionPointer.nameAt(Instant.now());
    version = time;
    for (int i = 2; entries.stream().anyMatch(entry -> entry.name().equals(version)); i++) {
      version = time + "-" + i;
    }
    return Map.of();
  }

  private List<Entry> unfinished(List<Entry> entries) throws IOException {
    List<Entry> unfinished = new ArrayList<>();
    for (Entry entry : entries) {
      if (isVersion(entry) && !isNamed(entry.name()) && isMarkedOurs(entry.name())) {
        unfinished.add(entry);
      }
    }
    return unfinished;
  }

  private String inVersion(String file) {
    return version + "/" + file;
  }

  /** The lengths of the files in the version, by their paths below it. */
  private Map<String, Long> lengths() throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    for (Entry entry : listed(version)) {
      if (!entry.directory()) {
        lengths.put(entry.name(), entry.length());
      } else if (Consignment.isShardDirectory(entry.name())) {
        for (Entry below : listed(inVersion(entry.name()))) {
          lengths.put(entry.name() + "/" + below.name(), below.length());
        }
      }
    }
    return lengths;
  }

  // Sending

  /** Sends files on all threads, except those that are there; the first failure stops them. */
  private void together(List<Part> parts, Map<String, Long> there) throws IOException {
    ExecutorCompletionService<Boolean> tasks = new ExecutorCompletionService<>(pool);
    for (Part part : parts) {
      tasks.submit(
          () -> {
            send(part, there.getOrDefault(part.name(), -1L));
            return true;
          });
    }
    Throwable failure = null;
    for (int i = 0; i < parts.size(); i++) {
      try {
        boolean unused = tasks.take().get();
      } catch (ExecutionException e) {
        stopped = true;
        failure = failure == null ? e.getCause() : failure;
      } catch (InterruptedException e) {
        stopped = true;
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while files were sent");
      }
    }
    if (failure instanceof IOException e) {
      throw e;
    }
    if (failure != null) {
      throw new IllegalStateException("a file could not be sent", failure);
    }
  }

  private void send(Part part, long lengthThere) throws IOException {
    String file = inVersion(part.name());
    if (lengthThere == part.length() && retried(file, () -> store.isComplete(file))) {
      kept.incrementAndGet();
      follower.sent(done.addAndGet(part.length()), database.bytes());
      return;
    }
    retried(
        file,
        () -> {
          Sending sending = null;
          try (InputStream in = part.open()) {
            sending = new Sending(in);
            store.write(file, sending);
          } catch (IOException | RuntimeException e) {
            if (sending == null || sending.failure != null) {
              throw new SourceException(
                  sending == null || sending.failure == null ? e : sending.failure);
            }
            done.addAndGet(-sending.count);
            throw e;
          }
        });
  }

  /** The content of a file on its way. */
  private final class Sending extends FilterInputStream {
    private long count;
    private @Nullable Exception failure;

    Sending(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      try {
        checkRunning();
        int read = in.read(bytes, offset, length);
        if (read > 0) {
          count += read;
          sent.addAndGet(read);
          follower.sent(done.addAndGet(read), database.bytes());
        }
        return read;
      } catch (IOException | RuntimeException e) {
        failure = e;
        throw e;
      }
    }
  }

  /** A failure of the database that is sent, which no further attempt helps. */
  private static final class SourceException extends IOException {
    private static final long serialVersionUID = 1L;

    SourceException(Exception cause) {
      super(cause);
    }
  }

  private void checkRunning() throws IOException {
    if (stopped) {
      throw new InterruptedIOException("the push was stopped");
    }
  }

  private void checkArrived() throws IOException {
    Map<String, Long> there = lengths();
    List<Part> parts = new ArrayList<>(database.files());
    parts.addAll(database.manifests().subList(0, database.manifests().size() - 1));
    for (Part part : parts) {
      long length = there.getOrDefault(part.name(), -1L);
      if (length != part.length()) {
        throw new InputException(
            store.location(inVersion(part.name()))
                + ": was sent with "
                + part.length()
                + " bytes, but "
                + (length < 0 ? "is not there" : "has " + length)
                + "; does another push write to this store?");
      }
    }
  }

  // The switch

  private synchronized void goLive() throws IOException {
    checkRunning();
    VersionPointer now = pointer();
    byte[] next = (now == null ? VersionPointer.to(version) : now.pushed(version)).encode();
    before = now;
    try {
      retried(POINTER, () -> store.replace(POINTER, next));
    } catch (IOException e) {
      if (!isCurrent()) {
        throw e;
      }
    }
    live = true;
    afterwards(MARKER, () -> store.delete(inVersion(MARKER)));
  }

  /** Whether the switch took place although its answer was lost. */
  private boolean isCurrent() {
    try {
      VersionPointer now = pointer();
      return now != null && now.current().equals(version);
    } catch (IOException unknown) {
      return false;
    }
  }

  /** Runs a step after the switch; a failure becomes a warning. */
  private void afterwards(String file, Action step) {
    try {
      retried(inVersion(file), step);
    } catch (IOException e) {
      warn("version " + version + " is current, but a later step failed: " + e.getMessage());
    }
  }

  private synchronized void warn(String what) {
    warnings.add(what);
  }

  // Old versions

  /**
   * Removes the oldest versions, but never the current one or the one that a rollback returns to,
   * and versions that pushes of other databases began more than a day ago and did not complete.
   *
   * @param most how many to keep besides the current one
   * @return the names of those removed
   */
  List<String> keep(int most) throws IOException {
    if (!live) {
      throw new IllegalStateException("not live yet");
    }
    VersionPointer now = pointer();
    if (now == null || !now.current().equals(version)) {
      return List.of(); // another push or a rollback follows its own rules
    }
    record Old(String name, Instant written, List<Entry> entries) {}
    List<Old> complete = new ArrayList<>();
    List<Old> begun = new ArrayList<>();
    for (Entry entry : listed("")) {
      if (!isVersion(entry) || entry.name().equals(version)) {
        continue;
      }
      List<Entry> below = listed(entry.name());
      boolean named = now.previous().contains(entry.name());
      for (Entry file : below) {
        if (file.name().equals(MARKER) && !named) {
          begun.add(new Old(entry.name(), file.modified(), below));
        } else if (file.name().equals(Consignment.MANIFEST) && (named || !has(below, MARKER))) {
          complete.add(new Old(entry.name(), file.modified(), below));
        }
      }
    }
    complete.sort(
        Comparator.comparing(Old::written).thenComparing(Old::name, VersionPointer.naturalOrder()));
    List<String> names = complete.stream().map(Old::name).toList();
    String back =
        now.previous().stream()
            .filter(names::contains)
            .findFirst()
            .or(
                () ->
                    names.stream()
                        .filter(name -> VersionPointer.naturalOrder().compare(name, version) < 0)
                        .max(VersionPointer.naturalOrder()))
            .orElse("");
    complete.removeIf(old -> old.name().equals(back));
    int others = Math.max(0, back.isEmpty() ? most : most - 1);
    List<String> removed = new ArrayList<>();
    for (Old old : complete.subList(0, Math.max(0, complete.size() - others))) {
      if (remove(old.name(), old.entries())) {
        removed.add(old.name());
      }
    }
    for (Old old : begun) {
      if (old.written().plus(STALE).isBefore(Instant.now()) && remove(old.name(), old.entries())) {
        warn("removed " + store.location(old.name()) + ", which a push began and did not complete");
      }
    }
    return removed;
  }

  /** Removes a version unless it holds other files; the manifest first, so it never opens half. */
  private boolean remove(String name, List<Entry> entries) throws IOException {
    for (Entry entry : entries) {
      boolean ours =
          entry.directory()
              ? Consignment.isShardDirectory(entry.name())
                  && listed(name + "/" + entry.name()).stream().allMatch(Push::isDatabaseFile)
              : isDatabaseFile(entry) || entry.name().equals(MARKER);
      if (!ours) {
        warn(
            store.location(name)
                + " contains files that are not the database's, so it was kept; remove it by hand");
        return false;
      }
    }
    retried(name, () -> store.delete(name + "/" + Consignment.MANIFEST));
    retried(name, () -> store.delete(name));
    return true;
  }

  private static boolean isDatabaseFile(Entry entry) {
    return !entry.directory() && Consignment.isFileName(entry.name());
  }

  // Attempts

  @FunctionalInterface
  private interface Action {
    void run() throws IOException;
  }

  @FunctionalInterface
  private interface Question<T> {
    T ask() throws IOException;
  }

  private void retried(String file, Action action) throws IOException {
    boolean unused =
        retried(
            file,
            () -> {
              action.run();
              return true;
            });
  }

  private <T> T retried(String file, Question<T> question) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try {
        return question.ask();
      } catch (SourceException e) {
        throw ofSource(e);
      } catch (NoSuchFileException | NotDirectoryException e) {
        throw e;
      } catch (IOException e) {
        InputException explained = store.explain(file, e);
        if (stopped || isLasting(e) || attempt == manner.pauseMillis().size()) {
          throw explained;
        }
        follower.retrying(String.valueOf(explained.getMessage()));
        pause(manner.pauseMillis().get(attempt));
      }
    }
  }

  private IOException ofSource(SourceException e) {
    if (database.isReplaced()) {
      return new IOException("the database was replaced while it was sent; push again", e);
    }
    if (e.getCause() instanceof NoSuchFileException missing) {
      return InputException.reading(String.valueOf(missing.getFile()), missing);
    }
    return e.getCause() instanceof IOException cause ? cause : e;
  }

  /** Whether another attempt would fail alike. */
  private static boolean isLasting(IOException e) {
    return e instanceof AccessDeniedException
        || e instanceof FileAlreadyExistsException
        || e instanceof InputException
        || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException))
        || e.getClass().getSimpleName().contains("QuotaExceeded");
  }

  private void pause(long milliseconds) throws IOException {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the push was stopped");
    }
    checkRunning();
  }

  /** Stops sending; waits for a switch that has begun, and until no file is left half-written. */
  void cancel() throws InterruptedException {
    stopped = true;
    List<Runnable> unused = pool.shutdownNow();
    boolean ended = pool.awaitTermination(UNDO_SECONDS, TimeUnit.SECONDS);
    synchronized (this) {
      stopped |= !ended;
    }
  }

  /** Ends the threads. The store stays open. */
  @Override
  public void close() {
    List<Runnable> unused = pool.shutdownNow();
  }
}

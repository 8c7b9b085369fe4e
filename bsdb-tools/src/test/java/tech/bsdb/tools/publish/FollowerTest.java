package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.store.Store;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** Looks at a source, one after another, without threads and clocks unless a test is about them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowerTest {
  private static final Checks CHECKS =
      new Checks(0, -1, 1000, -1, false, null, Encoding.UTF8, Checks.Counting.IF_NEEDED);
  private static final int RECORDS = 500;

  @TempDir Path folder;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final AtomicInteger pulls = new AtomicInteger();
  private Instant now = Instant.parse("2026-11-23T12:00:00Z");
  private Path far;
  private Path store;
  private BreakableDirectory source;
  private Follower follower;

  @BeforeEach
  void places() throws IOException {
    far = folder.resolve("far");
    store = folder.resolve("store");
    source = new BreakableDirectory(far.toString());
    follower = follower(Duration.ofMinutes(1), CHECKS, -1);
  }

  private Follower follower(Duration interval, Checks checks, int keep) {
    TransferOptions once = TransferOptions.defaults().withAttempts(1, Duration.ZERO);
    return follower(interval, checks, keep, once);
  }

  private Follower follower(Duration interval, Checks checks, int keep, TransferOptions transfer) {
    FollowOptions options =
        new FollowOptions(
            "far://user:secret@host/",
            FileSourceOptions.local(),
            store,
            interval,
            transfer.withThreads(1),
            checks,
            keep);
    InstantSource clock = () -> now;
    return new Follower(options, console(), () -> source, clock, () -> Long.MIN_VALUE);
  }

  private Console console() {
    return new Console(new ByteArrayInputStream(new byte[0]), said, said, false);
  }

  /** Publishes a version at the source; returns its directory. */
  private Path offer(String version, int records) throws IOException {
    Path database = folder.resolve("db-" + version);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(database, BuildOptions.defaults().withThreads(1))) {
      for (int i = 0; i < records; i++) {
        builder.add(("key-" + i).getBytes(UTF_8), ("value of " + version + i).getBytes(UTF_8));
      }
      builder.finish();
    }
    CommandRun run =
        bsdb("publish", database.toString(), far.toString(), "--version", version, "-q");
    assertThat(run.code()).as(run.toString()).isZero();
    return far.resolve(version);
  }

  private String current() throws IOException {
    return String.valueOf(Store.open(store).current());
  }

  private static Path data(Path version) throws IOException {
    try (Stream<Path> files = Files.list(version)) {
      return files.filter(file -> file.toString().contains("data-")).findFirst().orElseThrow();
    }
  }

  private void begun() throws Exception {
    offer("v1", RECORDS);
    assertThat(follower.first()).isTrue();
    assertThat(current()).isEqualTo("v1");
  }

  @Test
  void onlyWhatIsNewIsPulled() throws Exception {
    begun();
    assertThat(said.toString(UTF_8))
        .contains("bsdb serve: " + store + " has no version yet: pulling one from far://***@host/")
        .contains("bsdb serve: pulled v1 in " + store + ": 500 records");
    source.opened.clear();
    assertThat(follower.step()).hasSeconds(60);
    assertThat(source.opened).containsOnlyKeys("CURRENT", "v1/manifest.bsdb");
    FollowStatus status = follower.status();
    assertThat(status.figures().get("checkedAt")).isEqualTo(now);
    assertThat(status.figures().get("pulledAt")).isEqualTo(now);
    Instant before = now;
    now = now.plusSeconds(60);
    long fetched = fetched(status);
    offer("v2", RECORDS);
    assertThat(follower.step()).hasSeconds(60);
    assertThat(current()).isEqualTo("v2");
    assertThat(status.figures().get("pulledAt")).isEqualTo(now).isNotEqualTo(before);
    assertThat(fetched(status)).isGreaterThan(fetched + Files.size(data(far.resolve("v2"))));
    assertThat(status.figures()).containsEntry("state", "waiting");
    assertThat(status.figures())
        .containsEntry("source", "far://***@host/")
        .containsEntry("state", "waiting")
        .containsEntry("behind", false)
        .containsEntry("offeredVersion", "v2")
        .containsEntry("pulledVersion", "v2")
        .containsEntry("pullBytes", 0L)
        .containsEntry("error", null)
        .containsEntry("nextAt", Instant.parse("2026-11-23T12:02:00Z"));
  }

  @Test
  void aRollbackStaysUntilTheSourceHasSomethingNew() throws Exception {
    begun();
    offer("v2", RECORDS);
    follower.step();
    assertThat(bsdb("rollback", store.toString()).code()).isZero();
    follower.step();
    assertThat(current()).isEqualTo("v1");
    assertThat(follower.status().figures()).containsEntry("behind", false);
    offer("v3", RECORDS);
    follower.step();
    assertThat(current()).isEqualTo("v3");
  }

  @Test
  void whatIsCurrentHereAlreadyIsNotPulled() throws Exception {
    Path database = offer("v1", RECORDS);
    assertThat(bsdb("publish", database.toString(), store.toString(), "--version", "mine").code())
        .isZero();
    assertThat(follower.first()).isTrue();
    follower.step();
    assertThat(current()).isEqualTo("mine");
    assertThat(bsdb("versions", store.toString()).out()).isEqualTo("mine\tcurrent\n");
  }

  @Test
  void pausesGrowWithFailuresAndTheSourceIsOpenedAgain() throws Exception {
    begun();
    source.fault =
        file -> {
          throw new IOException("connection refused by far://user:secret@host/" + file);
        };
    for (long seconds : new long[] {60, 120, 240, 480, 600, 600}) {
      assertThat(follower.step()).hasSeconds(seconds);
    }
    FollowStatus status = follower.status();
    assertThat(source.closed).hasValue(6);
    assertThat(status.figures()).containsEntry("state", "failed");
    assertThat(status.failures()).isEqualTo(6);
    assertThat(status.figures()).containsEntry("behind", false);
    assertThat(status.figures())
        .containsEntry("nextAt", Instant.parse("2026-11-23T12:10:00Z"))
        .containsEntry("failedAt", Instant.parse("2026-11-23T12:00:00Z"))
        .extractingByKey("error")
        .asString()
        .contains("connection refused");
    source.fault = file -> {};
    assertThat(follower.step()).hasSeconds(60);
    assertThat(status.failures()).isZero();
    assertThat(status.figures()).containsEntry("allFailures", 6L);
    assertThat(status.figures()).containsEntry("error", null).containsEntry("failedAt", null);
    assertThat(said.toString(UTF_8))
        .contains("bsdb serve: nothing was pulled from far://***@host/: ")
        .contains("(trying again in 600 s)", "bsdb serve: far://***@host/ is followed again")
        .doesNotContain("secret");
  }

  @Test
  void damageAtTheSourceIsToldAndChangesNothing() throws Exception {
    begun();
    Path damaged = data(offer("v2", RECORDS));
    byte[] whole = Files.readAllBytes(damaged);
    byte[] wrong = whole.clone();
    wrong[5000] ^= 1;
    Files.write(damaged, wrong);
    follower.step();
    FollowStatus status = follower.status();
    assertThat(current()).isEqualTo("v1");
    assertThat(status.figures()).containsEntry("behind", true);
    assertThat(status.figures()).containsEntry("state", "failed");
    assertThat(String.valueOf(status.figures().get("error")))
        .contains("v2/" + damaged.getFileName(), "damaged at byte 4096");
    assertThat(status.figures()).containsEntry("pullBytes", 0L);
    Files.write(damaged, whole);
    follower.step();
    assertThat(current()).isEqualTo("v2");
    assertThat(status.figures()).containsEntry("behind", false);
  }

  @Test
  void whatIsAskedForAgainIsTold() throws Exception {
    begun();
    offer("v2", RECORDS);
    TransferOptions twice = TransferOptions.defaults().withAttempts(2, Duration.ZERO);
    follower = follower(Duration.ofMinutes(1), CHECKS, -1, twice);
    FollowStatus status = follower.status();
    source.fault =
        file -> {
          if (file.contains("data-") && status.figures().get("retry") == null) {
            throw new IOException("connection reset");
          }
        };
    follower.step();
    assertThat(current()).isEqualTo("v2");
    assertThat(status.figures()).containsEntry("retry", null).containsEntry("failures", 0);
  }

  @Test
  void aVersionThatFailsTheChecksIsRefusedWithTheReason() throws Exception {
    follower =
        follower(
            Duration.ofMinutes(1),
            new Checks(0, 5, 0, -1, false, null, Encoding.UTF8, Checks.Counting.IF_NEEDED),
            0);
    begun();
    offer("v2", RECORDS / 2);
    source.opened.clear();
    follower.step();
    assertThat(current()).isEqualTo("v1");
    assertThat(String.valueOf(follower.status().figures().get("error")))
        .contains("50 % fewer", "--max-shrink allows 5 %");
    assertThat(source.opened.keySet()).noneMatch(file -> file.contains("data-"));
    offer("v3", RECORDS);
    follower.step();
    offer("v4", RECORDS);
    follower.step();
    assertThat(bsdb("versions", store.toString()).out()).as("kept").isEqualTo("v3\nv4\tcurrent\n");
  }

  @Test
  void theFirstVersionIsTriedUntilItIsHere() throws Exception {
    follower = follower(Duration.ofMillis(1), CHECKS, -1);
    offer("v1", RECORDS);
    AtomicInteger left = new AtomicInteger(3);
    source.fault =
        file -> {
          if (left.decrementAndGet() >= 0) {
            throw new IOException("no route to host");
          }
        };
    assertThat(follower.first()).isTrue();
    assertThat(current()).isEqualTo("v1");
    assertThat(follower.status().failures()).isZero();
    assertThat(said.toString(UTF_8).split("no route to host", -1)).hasSize(4);
  }

  @Test
  void whatAnotherAttemptCannotCureEndsTheStart() throws Exception {
    assertThatThrownBy(follower::first)
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("is neither a store nor a database");
    assertThat(store).doesNotExist();
    Path database = offer("v1", 1);
    FollowOptions real =
        new FollowOptions(
            "nosuch://host/stores",
            FileSourceOptions.local(),
            store,
            Duration.ofDays(1),
            TransferOptions.defaults(),
            CHECKS,
            -1);
    assertThatThrownBy(() -> new Follower(real, console()).first())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no file system for nosuch:");
    store = database;
    assertThatThrownBy(() -> follower(Duration.ofDays(1), CHECKS, -1).first())
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("is a single database");
  }

  @Test
  void theCommandRefusesWhatItCannotFollow() throws Exception {
    String database = offer("v1", 1).toString();
    String[][] lines = {
      {"-d", database, "--follow", far.toString()},
      {"-d", store.toString(), "--follow", folder.resolve("none").toString()},
      {"-d", store.toString(), "--follow", far.toString(), "--shards", "3"},
      {"-d", store.toString(), "--follow", ""},
      {"-d", database, "--keep", "1"},
      {"-d", database, "--follow-interval", "5"},
    };
    String[] reasons = {
      "--follow pulls into a store, but -d "
          + database
          + " is not a store: it is a single database",
      "is neither a store nor a database: it has no CURRENT",
      "is one database, not a set of shards",
      "--follow takes a source",
      "--keep is for following a source; add --follow SRC",
      "--follow-interval is for following a source; add --follow SRC",
    };
    for (int i = 0; i < lines.length; i++) {
      String[] line = Stream.concat(Stream.of("serve"), Stream.of(lines[i])).toArray(String[]::new);
      CommandRun run = bsdb(line);
      assertThat(run.code()).as(run.toString()).isEqualTo(2);
      assertThat(run.err()).contains(reasons[i]).doesNotContain("\tat ");
    }
    assertThat(store).doesNotExist();
  }

  @Test
  void aPullThatIsInterruptedIsContinued() throws Exception {
    begun();
    Path next = offer("v2", 20_000);
    CountDownLatch reached = new CountDownLatch(1);
    String last = "index-";
    source.fault =
        file -> {
          if (file.contains(last)) {
            reached.countDown();
            try {
              new CountDownLatch(1).await(); // as a read from a server that hangs
            } catch (InterruptedException e) {
              throw new InterruptedIOException("interrupted");
            }
          }
        };
    follower.start(pulls::incrementAndGet);
    follower.lookNow();
    reached.await();
    assertThat(follower.status().figures()).containsEntry("state", "pulling");
    assertThat(follower.status().figures()).containsEntry("behind", true);
    assertThat(follower.status().figures().get("pullBytes")).isNotEqualTo(0L);
    follower.close();
    follower.close();
    assertThat(current()).isEqualTo("v1");
    assertThat(follower.status().failures()).as("an end is no failure").isZero();
    assertThat(store.resolve(".pulling")).isDirectory();

    source.fault = file -> {};
    follower = follower(Duration.ofMinutes(1), CHECKS, -1);
    assertThat(follower.first()).isTrue();
    follower.step();
    assertThat(current()).isEqualTo("v2");
    assertThat(said.toString(UTF_8)).contains("bytes from an earlier pull");
    assertThat(fetched(follower.status())).isLessThan(bytes(next));
    assertThat(pulls).hasValue(0);
  }

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void aStartThatIsInterruptedHasNoVersion() throws Exception {
    offer("v1", RECORDS);
    CountDownLatch reached = new CountDownLatch(1);
    source.fault =
        file -> {
          reached.countDown();
          throw new IOException("no route to host");
        };
    Thread ending =
        new Thread(
            () -> {
              try {
                reached.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              follower.close();
            });
    ending.start();
    assertThat(follower.first()).isFalse();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    ending.join();
    assertThat(store).doesNotExist();
  }

  private static long fetched(FollowStatus status) {
    return ((Number) Objects.requireNonNull(status.figures().get("fetchedBytes"))).longValue();
  }
}

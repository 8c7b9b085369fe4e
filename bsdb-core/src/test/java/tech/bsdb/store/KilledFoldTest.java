package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.DiffListener;
import tech.bsdb.Fork;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.transfer.TransferListener;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/**
 * Pulls that are killed at random moments while they bring changes, make the new version of them
 * and publish it: the current version is the old one or the new one, never a part, and the next
 * pull goes on.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledFoldTest {
  private static final int RECORDS = 50_000;
  private static final int ADDED = 500;
  private static final int NEWEST = 2;

  /** How many keys of each sort are looked up at once. */
  private static final int SAMPLE = 500;

  private static final int LAST_STEPS = 4;

  /** In microseconds, before a kill. */
  private static final List<Integer> LONGEST_PAUSES = List.of(1, 3000, 100_000);

  private static final List<BuildOptions> KINDS =
      List.of(
          BuildOptions.defaults().withLayout(Layout.PACKED).withThreads(1),
          BuildOptions.defaults()
              .withLayout(Layout.PACKED)
              .withThreads(1)
              .withOrderedKeys(true)
              .withFilterBits(8)
              .withDataFiles(2)
              .withShards(3));

  /** What a pull does, each step of which it says. */
  private enum Phase {
    TRANSFER,
    FOLD,
    PUBLICATION,
    LIVE
  }

  @TempDir Path folder;

  private final SplittableRandom random = Seeds.random("KilledFoldTest");
  private static final List<Phase> BEFORE_LIVE =
      List.of(Phase.TRANSFER, Phase.FOLD, Phase.PUBLICATION);

  private final Map<String, List<Phase>> stepsOf = new HashMap<>();
  private final Map<Phase, Integer> kills = new EnumMap<>(Phase.class);
  private int ended; // before the kill
  private int switched; // rounds in which the new version was current before the last pull
  private int left; // rounds of these with files of the fold, which the next pull removes
  private long lookups;

  @AfterEach
  void nothingIsOpen() throws Exception {
    Leaks.assertNone(folder);
  }

  @Test
  void theOldOrTheNewIsThere() throws Exception {
    kill(Math.max(3, Rounds.of(1)));
  }

  @Tag("long")
  @Test
  void threeHundredTimes() throws Exception {
    kill(300);
  }

  private void kill(int rounds) throws Exception {
    for (int round = 0; round < rounds; round++) {
      int kind = round % KINDS.size();
      round(there(kind), kind, random.nextInt(3) == 0 ? 0 : NEWEST - 1);
    }
    System.out.println(
        ("KilledFoldTest: %d rounds, killed in %s, %d ended before, %d switched, of which %d left"
                + " files; %d lookups")
            .formatted(rounds, kills, ended, switched, left, lookups));
  }

  /**
   * Kills a pull, and now and then the one that goes on, into a store that has an older version;
   * the next one succeeds.
   */
  private void round(Path there, int kind, int since) throws Exception {
    Path near = folder.resolve("near");
    Fold.clear(near);
    publish(there.resolve("v" + since), near, since);
    String path = kind + " since " + since;
    if (!stepsOf.containsKey(path)) {
      List<Phase> steps = new ArrayList<>();
      pull(there, near, step -> steps.add(phase(step)));
      stepsOf.put(path, steps);
      Fold.clear(near);
      publish(there.resolve("v" + since), near, since);
    }
    int day = since;
    for (int times = random.nextInt(4) == 0 ? 2 : 1; times > 0 && day == since; times--) {
      Phase last = kill(there, near, moment(Objects.requireNonNull(stepsOf.get(path))));
      day = check(there, near, since);
      if (last.compareTo(Phase.PUBLICATION) < 0) {
        assertThat(day).as("current before it was published").isEqualTo(since);
      } else if (last == Phase.LIVE) {
        assertThat(day).as("current after it went live").isEqualTo(NEWEST);
      }
    }
    if (day == NEWEST) {
      switched++;
      left += Files.exists(near.resolve(Fold.WORK)) ? 1 : 0;
    }
    TransferReport done = pull(there, near, KilledFoldTest::phase);
    if (day == since) {
      assertThat(done.folded()).isEqualTo(KINDS.get(kind).shards());
      assertThat(done.bytes())
          .isLessThan(Database.statistics(there.resolve("v" + NEWEST)).databaseBytes() / 2);
    }
    assertThat(check(there, near, since)).isEqualTo(NEWEST);
    assertThat(Leaks.tree(near))
        .as("stale files after the next pull")
        .noneMatch(name -> name.matches("\\.(folding|pulling|incoming|removed).*"))
        .noneMatch(name -> name.endsWith(Publication.UNFINISHED));
  }

  /** The number of a step in any of the phases up to the publication, often one of its last. */
  private int moment(List<Phase> steps) {
    Phase phase = BEFORE_LIVE.get(random.nextInt(BEFORE_LIVE.size()));
    List<Integer> numbers =
        IntStream.range(0, steps.size()).filter(i -> steps.get(i) == phase).boxed().toList();
    int count = numbers.size();
    return numbers.get(
        random.nextBoolean()
            ? random.nextInt(count)
            : count - 1 - random.nextInt(Math.min(count, LAST_STEPS)));
  }

  /**
   * Pulls in another process, which is killed a moment after the step of that number; returns what
   * it said last.
   */
  private Phase kill(Path there, Path near, int moment) throws Exception {
    Process process = Fork.start(Pulling.class, there.toString(), near.toString());
    OutputStream input = process.getOutputStream();
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      List<Phase> steps = new ArrayList<>();
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        steps.add(phase(line));
        if (steps.size() <= moment) {
          input.write('\n');
          input.flush();
        } else if (steps.size() == moment + 1) {
          input.close(); // it waits no more
          int most = LONGEST_PAUSES.get(random.nextInt(LONGEST_PAUSES.size()));
          TimeUnit.MICROSECONDS.sleep(random.nextInt(most));
          process
              .toHandle()
              .destroyForcibly(); // unlike the process's own method it leaves the output readable
        }
      }
      int code = process.waitFor();
      assertThat(code).as("the exit code").isIn(0, 128 + 9);
      assertThat(steps).isNotEmpty();
      Phase last = steps.get(steps.size() - 1);
      if (code == 0) {
        ended++;
      } else {
        kills.merge(last, 1, Integer::sum);
      }
      return last;
    }
  }

  /** The phase that a step belongs to; all else that a pull says is a failure. */
  private static Phase phase(String step) {
    for (Phase phase : Phase.values()) {
      if (step.equals(phase.name())) {
        return phase;
      }
    }
    throw new AssertionError(step);
  }

  /** Checks all that can be seen of a store; returns the day of its current version. */
  private int check(Path there, Path near, int since) throws IOException {
    String current = Objects.requireNonNull(Store.open(near).current());
    assertThat(current).isIn("v" + since, "v" + NEWEST, "v" + NEWEST + "-2");
    for (Path version : LocalStore.versionDirectories(near)) {
      String name = version.getFileName().toString();
      assertSame(version, there.resolve(name.substring(0, 2)));
    }
    int day = current.charAt(1) - '0';
    Path directory = near.resolve(current);
    Database.verify(directory, (done, all) -> {});
    try (Database database = Database.open(directory)) {
      for (int i = 0; i < SAMPLE; i++) {
        int d = 1 + random.nextInt(NEWEST);
        checkAnswer(database, day, random.nextInt(RECORDS));
        checkAnswer(database, day, 50 * random.nextInt(RECORDS / 50) + d);
        checkAnswer(database, day, 200 * random.nextInt(RECORDS / 200) + 10 + d);
        checkAnswer(database, day, RECORDS + random.nextInt(ADDED * NEWEST));
        checkAnswer(database, day, RECORDS + ADDED * NEWEST + random.nextInt(RECORDS));
      }
    }
    return day;
  }

  private void checkAnswer(Database database, int day, int number) throws IOException {
    Truth.same(database.get(key(number)), value(number, day), "value of key-" + number);
    lookups++;
  }

  private static void assertSame(Path found, Path expected) throws IOException {
    List<String> names = Leaks.tree(found);
    names = names.stream().filter(name -> !name.equals(Publication.UNFINISHED)).toList();
    assertThat(names).isEqualTo(Leaks.tree(expected));
    for (String name : names) {
      if (Files.isRegularFile(expected.resolve(name))) {
        assertThat(Files.mismatch(found.resolve(name), expected.resolve(name)))
            .as(name)
            .isEqualTo(-1);
      }
    }
  }

  private static byte[] key(int number) {
    return Truth.utf8("key-" + number);
  }

  /**
   * The value of a record on a day, or null: each day, a fiftieth is changed, a two-hundredth
   * deleted, and some are added.
   */
  private static byte[] value(int number, int day) {
    int last = number < RECORDS ? 0 : 1 + (number - RECORDS) / ADDED;
    if (last > day) {
      return null;
    }
    for (int d = 1; d <= day && number < RECORDS; d++) {
      if (number % 200 == 10 + d) {
        return null;
      }
      last = number % 50 == d ? d : last;
    }
    SplittableRandom random = new SplittableRandom(number * 10L + last);
    return Truth.bytes(random, number % 7 == 0 ? 0 : 20 + random.nextInt(80));
  }

  /** The store of all days, with the changes of each. */
  private Path there(int kind) throws IOException {
    Path there = folder.resolve("there-" + kind);
    if (Files.notExists(there)) {
      for (int day = 0; day <= NEWEST; day++) {
        Path build = folder.resolve("build");
        BuildOptions options = KINDS.get(kind).withOverwrite(true);
        try (DatabaseBuilder builder = DatabaseBuilder.create(build, options)) {
          for (int number = 0; number < RECORDS + ADDED * NEWEST; number++) {
            byte[] value = value(number, day);
            if (value != null) {
              builder.add(key(number), value);
            }
          }
          builder.finish();
        }
        publish(build, there, day);
      }
    }
    return there;
  }

  /** Publishes a day, with the changes since the day before if that one is there. */
  private static void publish(Path database, Path store, int day) throws IOException {
    PublishOptions named = PublishOptions.defaults().withVersion("v" + day);
    try (Publication publication = Publication.of(database, store, named)) {
      publication.begin();
      publication.copy();
      if (publication.current() != null) {
        publication.delta("v" + (day - 1), 1 << 24, DiffListener.NONE);
      }
      assertThat(publication.goLive(publication.current())).isTrue();
    }
  }

  /** Pulls the current version, even if it is here, and says each step before it is taken. */
  private static TransferReport pull(Path there, Path near, Consumer<String> said)
      throws IOException {
    AtomicBoolean folds = new AtomicBoolean();
    FolderOrigin origin = new FolderOrigin(there);
    origin.fault =
        (file, from, content) ->
            inSteps(
                content,
                () -> {
                  boolean proof = folds.get() && !file.startsWith(Delta.DIRECTORY);
                  said.accept((proof ? Phase.FOLD : Phase.TRANSFER).name());
                });
    TransferListener listener =
        new TransferListener() {
          @Override
          public void arrived(long doneBytes, long allBytes) {
            said.accept(Phase.TRANSFER.name());
          }

          @Override
          public void folding(long doneRecords, long allRecords) {
            folds.set(true);
            said.accept(Phase.FOLD.name());
          }

          @Override
          public void retrying(String location, String why, Duration pause) {
            said.accept("retrying " + location + ": " + why);
          }

          @Override
          public void whole(String version, String why) {
            said.accept("whole " + version + ": " + why);
          }
        };
    TransferOptions options =
        TransferOptions.defaults().withFoldBytes(1 << 20).withListener(listener);
    try (Publication pull = Publication.pull(origin, near, PublishOptions.defaults(), options)) {
      pull.begin();
      pull.copy();
      said.accept(Phase.PUBLICATION.name());
      pull.verify();
      said.accept(Phase.PUBLICATION.name());
      assertThat(pull.goLive(pull.current())).isTrue();
      said.accept(Phase.LIVE.name());
      assertThat(pull.warnings()).isEmpty();
      return Objects.requireNonNull(pull.transferred());
    }
  }

  /** Content that comes in small parts, before each of which there is a step. */
  private static InputStream inSteps(InputStream content, Runnable step) {
    return new FilterInputStream(content) {
      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        step.run();
        return super.read(into, offset, Math.min(length, 1 << 13));
      }
    };
  }

  /**
   * Pulls in a process of its own, that the test kills: THERE NEAR. Prints each step, and takes it
   * once it reads a byte; at the end of its input it waits no more.
   */
  static final class Pulling {
    private Pulling() {}

    /** Runs the pull. */
    public static void main(String[] args) throws IOException {
      pull(Path.of(args[0]), Path.of(args[1]), Pulling::say);
    }

    private static synchronized void say(String step) {
      System.out.println(step);
      System.out.flush();
      try {
        int unused = System.in.read();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}

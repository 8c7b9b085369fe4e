package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.DiffListener;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.transfer.TransferListener;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/** Versions are made from older ones and the changes since, and are what was published. */
class FoldTest {
  private static final String OLDER =
      "the version that its changes start from is not in this store";
  private static final int RECORDS = 12_000;
  private static final BuildOptions PACKED = BuildOptions.defaults().withThreads(1);

  @TempDir Path folder;
  private Path there;
  private Path here;
  private FolderOrigin origin;
  private final List<String> whole = new ArrayList<>();
  private final TransferOptions quick =
      TransferOptions.defaults()
          .withAttempts(2, Duration.ZERO)
          .withListener(
              new TransferListener() {
                @Override
                public void whole(String version, String why) {
                  whole.add(version + ": " + why);
                }
              });

  @BeforeEach
  void name() {
    there = folder.resolve("there");
    here = folder.resolve("here");
    origin = new FolderOrigin(there);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(here.resolve(Fold.WORK)).doesNotExist();
    Leaks.assertNone(folder);
  }

  /** The records of a day: each day, a hundredth is changed, added or deleted. */
  private static Map<String, String> day(int day) {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < RECORDS; i++) {
      records.put("key-" + i, "value " + i + " of the first day, and something more");
    }
    for (int d = 1; d <= day; d++) {
      for (int i = d; i < RECORDS; i += 150) {
        records.put("key-" + i, i % 7 == 0 ? "" : "value " + i + " of day " + d);
      }
      for (int i = 50 + d; i < RECORDS; i += 1000) {
        records.remove("key-" + i);
      }
      for (int i = 0; i < RECORDS / 500; i++) {
        records.put("new-" + d + "-" + i, "" + i);
      }
    }
    return records;
  }

  private Path build(int day, BuildOptions options) throws IOException {
    return build(folder.resolve("build-" + day), day(day), options);
  }

  private static Path build(Path target, Map<String, String> records, BuildOptions options)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options.withOverwrite(true))) {
      for (Map.Entry<String, String> record : records.entrySet()) {
        builder.add(bytes(record.getKey()), bytes(record.getValue()));
      }
      builder.finish();
    }
    return target;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Publishes a day there, with the changes since the day before. */
  private void publish(int day, BuildOptions options) throws IOException {
    PublishOptions named = PublishOptions.defaults().withVersion("v" + day);
    try (Publication publication = Publication.of(build(day, options), there, named)) {
      publication.begin();
      publication.copy();
      if (day > 0) {
        publication.delta("v" + (day - 1), 1 << 24, DiffListener.NONE);
      }
      assertThat(publication.goLive(publication.current())).isTrue();
    }
  }

  private TransferReport pull(TransferOptions options) throws IOException {
    try (Publication pull = Publication.pull(origin, here, PublishOptions.defaults(), options)) {
      pull.begin();
      pull.copy();
      pull.verify();
      assertThat(pull.goLive(pull.current())).isTrue();
      assertThat(pull.warnings()).isEmpty();
      return Objects.requireNonNull(pull.transferred());
    }
  }

  /** All files of the version here are those there. */
  private void assertSame(String version) throws IOException {
    assertThat(Store.open(here).current()).isEqualTo(version);
    try (Stream<Path> all = Files.walk(here.resolve(version))) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        assertThat(Files.mismatch(file, there.resolve(here.relativize(file)))).isEqualTo(-1);
      }
    }
  }

  private static long size(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private Path deltaFile(int day) {
    return there.resolve(".deltas/v" + day + "/delta.txt");
  }

  private static List<BuildOptions> foldable() {
    return List.of(
        PACKED,
        PACKED.withOrderedKeys(true).withLayout(Layout.PACKED),
        PACKED.withFilterBits(8).withDataFiles(3),
        PACKED.withSeed(77).withShards(3));
  }

  @ParameterizedTest
  @MethodSource("foldable")
  void onlyChangesTravel(BuildOptions options) throws IOException {
    publish(0, options);
    pull(quick);
    publish(1, options);
    long before = origin.bytes.get();
    TransferReport done = pull(quick);
    assertSame("v1");
    assertThat(done.folded()).isEqualTo(options.shards());
    assertThat(origin.bytes.get() - before).isBetween(1L, size(there.resolve("v1")) / 2);
    assertThat(whole).isEmpty();
  }

  @Test
  void aFewShardsAreMadeByThemselves() throws IOException {
    TransferOptions some = quick.withShards(new TreeSet<>(List.of(0, 2)));
    publish(0, PACKED.withShards(4));
    pull(some);
    publish(1, PACKED.withShards(4));
    TransferReport done = pull(some);
    assertThat(done.folded()).isEqualTo(2);
    assertThat(whole).isEmpty();
    assertThat(Database.statistics(here.resolve("v1")).heldShards()).containsExactly(0, 2);
  }

  @Test
  void aShardThatDidNotChangeIsTaken() throws IOException {
    BuildOptions options = PACKED.withShards(5);
    publish(0, options);
    pull(quick);
    Map<String, String> one = day(0);
    one.put("key-1", "another");
    publish(folder.resolve("one"), "v1", one, options);
    assertThat(pull(quick).folded()).isEqualTo(1);
    assertSame("v1");
  }

  @Test
  void deltasAreAppliedInTurn() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    publish(2, PACKED);
    publish(3, PACKED);
    assertThat(pull(quick).folded()).isEqualTo(1);
    assertSame("v3");
    assertThat(whole).isEmpty();
  }

  /** A shard changes on the first day, and others on the next. */
  @Test
  void shardsThatDidNotChangeEachDayAreMade() throws IOException {
    BuildOptions options = PACKED.withShards(6);
    publish(0, options);
    pull(quick);
    Map<String, String> records = day(0);
    records.put("key-1", "of the first day");
    publish(folder.resolve("one"), "v1", records, options);
    records.put("key-2", "of the second day");
    publish(folder.resolve("two"), "v2", records, options);
    records.put("key-3", "of the third day");
    publish(folder.resolve("three"), "v3", records, options);
    assertThat(pull(quick).folded()).isEqualTo(3);
    assertSame("v3");
    assertThat(whole).isEmpty();
  }

  private void publish(Path target, String name, Map<String, String> records, BuildOptions options)
      throws IOException {
    PublishOptions named = PublishOptions.defaults().withVersion(name);
    try (Publication publication = Publication.of(build(target, records, options), there, named)) {
      publication.begin();
      publication.copy();
      String before = publication.current();
      publication.delta(before, 1 << 24, DiffListener.NONE);
      publication.goLive(before);
    }
  }

  @Test
  void theChainIsBounded() throws IOException {
    publish(0, PACKED);
    pull(quick);
    for (int day = 1; day <= 9; day++) {
      publish(day, PACKED);
    }
    assertThat(pull(quick).folded()).isZero();
    assertSame("v9");
    assertThat(whole).singleElement().asString().contains(OLDER);
  }

  @Test
  void withoutTheOlderVersionTheWholeOneComes() throws IOException {
    publish(0, PACKED);
    publish(1, PACKED);
    assertThat(pull(quick).folded()).isZero();
    assertSame("v1");
    publish(2, PACKED);
    publish(3, PACKED);
    Fold.clear(deltaFile(2).getParent());
    assertThat(pull(quick).folded()).isZero();
    assertSame("v3");
    assertThat(whole).containsExactly("v3: " + OLDER);
  }

  @Test
  void whoWantsWholeOnesGetsThem() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    origin.opens.clear();
    assertThat(pull(quick.withFoldBytes(0)).folded()).isZero();
    assertSame("v1");
    assertThat(origin.opens.keySet()).noneMatch(file -> file.startsWith(".deltas"));
  }

  @Test
  void theResultHasTheSignature() throws Exception {
    KeyPair keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    TransferOptions trusting = quick.withTrusted(List.of(keys.getPublic()));
    publish(0, PACKED.withSigningKey(keys.getPrivate()));
    pull(trusting);
    publish(1, PACKED.withSigningKey(keys.getPrivate()));
    assertThat(pull(trusting).folded()).isEqualTo(1);
    assertSame("v1");
  }

  /** The changes are those of somebody else. */
  @Test
  void aForgedDeltaIsNotBelieved() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    byte[] described = Files.readAllBytes(deltaFile(1));
    Path changes = deltaFile(1).getParent();
    Fold.clear(changes);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(changes, BuildOptions.defaults().withThreads(1))) {
      builder.add(bytes("key-5"), bytes("\u0001forged"));
      builder.finish();
    }
    Files.write(deltaFile(1), described);
    assertThat(pull(quick).folded()).isZero();
    assertSame("v1");
    assertThat(whole).singleElement().asString().contains("is not what was published");
  }

  @Test
  void recordsThatAreNoChangesAreRefused() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    byte[] described = Files.readAllBytes(deltaFile(1));
    Path changes = deltaFile(1).getParent();
    Fold.clear(changes);
    build(changes, Map.of("key-5", "x"), PACKED);
    Files.write(deltaFile(1), described);
    assertThat(pull(quick).folded()).isZero();
    assertSame("v1");
    assertThat(whole).singleElement().asString().contains("has a record that is no change");
  }

  /** Of another version, of another base, cut at each line, or none. */
  @ParameterizedTest
  @ValueSource(strings = {"other", "swapped", "line", "last", "first", "name", "empty"})
  void aWrongDescriptionIsRefused(String kind) throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    List<String> lines = Files.readAllLines(deltaFile(1));
    String[] part = lines.get(2).split(" ", -1);
    List<String> wrong =
        switch (kind) {
          case "other" -> replaced(lines, 2, "part 0 " + part[2] + " " + "0".repeat(32));
          case "swapped" -> replaced(lines, 2, "part 0 " + part[3] + " " + part[2]);
          case "line" -> replaced(lines, 2, "part 0 " + part[2]);
          case "last" -> lines.subList(0, 3);
          case "first" -> replaced(lines, 0, "bsdb delta 2");
          case "name" -> replaced(lines, 1, "base ../v0");
          default -> List.of();
        };
    Files.write(deltaFile(1), wrong);
    assertThat(pull(quick).folded()).isZero();
    assertSame("v1");
    assertThat(whole).hasSize(1);
  }

  private static List<String> replaced(List<String> lines, int number, String line) {
    List<String> changed = new ArrayList<>(lines);
    changed.set(number, line);
    return changed;
  }

  /** The changes of the next day, under the name of this one. */
  @Test
  void theDeltaOfAnotherDayIsRefused() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    publish(2, PACKED);
    Path two = deltaFile(2).getParent();
    Path one = deltaFile(1).getParent();
    Path aside = there.resolve(".deltas/aside");
    Files.move(one, aside);
    Files.move(two, one);
    Files.move(aside, two);
    assertThat(pull(quick).folded()).isZero();
    assertSame("v2");
    assertThat(whole).containsExactly("v2: " + OLDER);
  }

  @Test
  void damagedChangesAreRefused() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    origin.fault =
        (file, from, content) ->
            file.startsWith(".deltas/v1/data")
                ? FolderOrigin.damaged(content, 4200 - from)
                : content;
    assertThat(pull(quick).folded()).isZero();
    assertSame("v1");
    assertThat(whole).hasSize(1);
  }

  /** Ends at some of its steps, and goes on. */
  @Test
  void whatWasInterruptedGoesOn() throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    long steps = interruptedAfter(Long.MAX_VALUE);
    assertThat(steps).isPositive();
    for (long step = 0; step < steps; step += 1 + steps / 6) {
      Fold.clear(here);
      publishedAgain();
      assertThat(interruptedAfter(step)).isEqualTo(step);
      assertThat(Store.open(here).current()).isEqualTo("v0");
      assertThat(pull(quick).folded()).isEqualTo(1);
      assertSame("v1");
      assertThat(whole).isEmpty();
    }
  }

  /** The store here has the first day again. */
  private void publishedAgain() throws IOException {
    try (Publication first =
        Publication.of(there.resolve("v0"), here, PublishOptions.defaults().withVersion("v0"))) {
      first.begin();
      first.copy();
      first.goLive(null);
    }
  }

  /** Closes a pull after so many reports of its fold; returns how many there were. */
  private long interruptedAfter(long most) throws IOException {
    AtomicLong reports = new AtomicLong();
    TransferOptions closing =
        quick.withListener(
            new TransferListener() {
              @Override
              public void folding(long doneRecords, long allRecords) {
                if (reports.get() == most) {
                  throw new CancellationException("closed");
                }
                reports.incrementAndGet();
              }
            });
    try (Publication pull = Publication.pull(origin, here, PublishOptions.defaults(), closing)) {
      pull.begin();
      pull.copy();
    } catch (CancellationException expected) {
      assertThat(most).isLessThan(Long.MAX_VALUE);
    }
    return reports.get();
  }

  /** A killed pull had made the database, and perhaps the disk has lost some of it. */
  @ParameterizedTest
  @ValueSource(strings = {"whole", "damaged", "missing", "other"})
  void whatAKilledPullMadeIsVerified(String kind) throws IOException {
    publish(0, PACKED);
    pull(quick);
    publish(1, PACKED);
    Path made = build(1, PACKED);
    Path left = here.resolve(Fold.WORK).resolve(Database.statistics(made).databaseId());
    Files.createDirectories(left);
    try (Stream<Path> files = Files.list(made)) {
      for (Path file : files.toList()) {
        Files.copy(file, left.resolve(file.getFileName()));
      }
    }
    Path data;
    try (Stream<Path> files = Files.list(left)) {
      data = files.filter(file -> file.toString().contains("data-")).findFirst().orElseThrow();
    }
    if (kind.equals("damaged")) {
      byte[] bytes = Files.readAllBytes(data);
      bytes[5000] ^= 1;
      Files.write(data, bytes);
    } else if (kind.equals("missing")) {
      Files.delete(data);
    } else if (kind.equals("other")) {
      Fold.clear(left);
      Files.createDirectories(left.resolve("nested"));
      Files.writeString(left.resolve("nested/file"), "");
    }
    AtomicLong folds = new AtomicLong();
    TransferOptions counting =
        quick.withListener(
            new TransferListener() {
              @Override
              public void folding(long doneRecords, long allRecords) {
                folds.incrementAndGet();
              }
            });
    assertThat(pull(counting).folded()).isEqualTo(1);
    assertSame("v1");
    assertThat(folds.get() == 0).isEqualTo(kind.equals("whole"));
  }

  @Test
  void whatCannotBeMadeTravelsWholeAndSaysWhy() throws IOException {
    assertNoDelta(PACKED.withLayout(Layout.BLOCKED), "layout blocked");
    assertNoDelta(PACKED.withLayout(Layout.COMPRESSED), "layout compressed");
    assertNoDelta(PACKED.withLayout(Layout.PACKED_COMPRESSED), "layout packed-compressed");
    Path v0 = build(0, PACKED);
    assertThatThrownBy(() -> delta(v0, build(1, PACKED.withSeed(4))))
        .isInstanceOf(NoDeltaException.class)
        .hasMessageContaining("different options");
    assertThatThrownBy(() -> delta(v0, v0))
        .isInstanceOf(NoDeltaException.class)
        .hasMessageContaining("same database");
    Map<String, String> others = new TreeMap<>();
    day(0).forEach((key, value) -> others.put(key, value + "!"));
    assertThatThrownBy(() -> delta(v0, build(folder.resolve("others"), others, PACKED)))
        .isInstanceOf(NoDeltaException.class)
        .hasMessageContaining("more than a third");
    Path twice = folder.resolve("twice");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(twice, PACKED.withDuplicates(DuplicatePolicy.LAST))) {
      for (int i = 0; i < 2; i++) {
        builder.add(bytes("key"), bytes("value " + i));
      }
      builder.finish();
    }
    assertThatThrownBy(() -> delta(v0, twice))
        .isInstanceOf(NoDeltaException.class)
        .hasMessageContaining("duplicates");
    assertThat(folder.resolve("delta")).doesNotExist();
  }

  private void assertNoDelta(BuildOptions options, String why) throws IOException {
    Path before = build(0, options);
    Path after = build(1, options);
    assertThatThrownBy(() -> delta(before, after))
        .isInstanceOf(NoDeltaException.class)
        .hasMessageContaining(why);
  }

  private Delta delta(Path before, Path after) throws IOException {
    Path target = folder.resolve("delta");
    return new DeltaBuild(before, after, DiffListener.NONE, () -> {}).write("v0", target, 1 << 24);
  }

  @Test
  void deltasGoWithTheirVersions() throws IOException {
    publish(0, PACKED);
    publish(1, PACKED);
    publish(2, PACKED);
    PublishOptions named = PublishOptions.defaults().withVersion("v3");
    try (Publication publication = Publication.of(build(3, PACKED), there, named)) {
      publication.begin();
      publication.copy();
      publication.delta("v2", 1 << 24, DiffListener.NONE);
      publication.goLive("v2");
      assertThat(publication.keep(1)).containsExactly("v0", "v1");
    }
    try (Stream<Path> left = Files.list(there.resolve(".deltas"))) {
      assertThat(left.map(Path::getFileName).map(Path::toString)).containsOnly("v2", "v3");
    }
    try (Publication given =
        Publication.of(build(4, PACKED), there, PublishOptions.defaults().withVersion("v4"))) {
      given.begin();
      given.copy();
      given.delta("v3", 1 << 24, DiffListener.NONE);
      assertThat(there.resolve(".deltas/v4/delta.txt")).exists();
    }
    assertThat(there.resolve(".deltas/v4")).doesNotExist();
  }

  @Test
  void descriptionsAreReadAsWritten() throws IOException {
    Delta delta = new Delta("v1", List.of(new Delta.Part(7, "0".repeat(32), "f".repeat(32))));
    byte[] bytes = delta.encode();
    assertThat(Delta.decode("x", bytes)).isEqualTo(delta);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> Delta.decode("x", cut)).isInstanceOf(IOException.class);
    }
  }
}

package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.Forgery;
import tech.bsdb.Golden;
import tech.bsdb.KeyRange;
import tech.bsdb.Leaks;
import tech.bsdb.OpenOptions;
import tech.bsdb.RangeOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.ContentHash;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.read.AsyncReader;
import tech.bsdb.read.SyncReader;

/**
 * Databases whose manifest says something else, with every checksum right: written by another
 * program, or by an enemy. They are refused with an error for users, or answer; nothing is thrown
 * that a caller would not expect.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForgedManifestTest {
  private static final List<String> VALUES =
      List.of(
          "",
          "x",
          "-1",
          "0",
          "1",
          "2",
          "8",
          "33",
          "256",
          "4097",
          "2147483647",
          "2147483648",
          "9223372036854775807",
          "99999999999999999999",
          "blocked",
          "compressed",
          "none");

  @TempDir Path directory;

  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** The lines of a golden database's manifest. */
  private static List<String> lines(Golden golden) throws IOException {
    byte[] file = Files.readAllBytes(golden.directory().resolve(Manifest.FILE_NAME));
    String text = new String(file, Page.SIZE, Page.PAYLOAD, StandardCharsets.UTF_8);
    return List.of(text.substring(0, text.indexOf('\0')).split("\n"));
  }

  /**
   * A copy of a golden database with another manifest, and all headers and footers as that wants
   * them.
   */
  private Path forge(Golden golden, List<String> lines) throws IOException {
    Path forged = Files.createDirectory(directory.resolve("forged-" + made++));
    Forgery.database(golden.directory(), lines, forged);
    return forged;
  }

  /** Does everything with a database that can be done; any value will do. */
  private static void use(Path forged, Golden golden, String what) throws IOException {
    List<Throwable> surprises = new ArrayList<>();
    OpenOptions.Engine engine =
        what.hashCode() % 2 == 0 ? OpenOptions.Engine.MAPPED : OpenOptions.Engine.BUFFERED;
    expected(
        surprises,
        () -> {
          try (Database database =
              Database.open(forged, OpenOptions.defaults().withEngine(engine))) {
            expected(surprises, database::statistics);
            for (Truth.Entry record : golden.truth().records()) {
              expected(surprises, () -> database.get(record.key()));
            }
            expected(surprises, () -> database.get(Truth.utf8("absent")));
            useOrder(surprises, database);
            expected(
                surprises,
                () -> {
                  try (Database.RecordCursor cursor = database.scan()) {
                    for (int i = 0; i < 100 && cursor.next(); i++) {
                      assertThat(cursor.key()).isNotNull();
                    }
                  }
                });
          }
        });
    expected(surprises, () -> Database.verify(forged, (done, total) -> {}));
    expected(surprises, () -> Database.statistics(forged));
    for (Path file : Golden.files(forged)) {
      Files.delete(file);
    }
    if (!surprises.isEmpty()) {
      throw new AssertionError(what + ": " + surprises.get(0), surprises.get(0));
    }
  }

  private static void useOrder(List<Throwable> surprises, Database database) {
    byte[] key = Truth.utf8("c");
    expected(surprises, database::firstKey);
    expected(surprises, database::lastKey);
    expected(surprises, () -> database.floorKey(key));
    expected(surprises, () -> database.ceilingKey(key));
    expected(surprises, () -> database.count(KeyRange.all().from(key)));
    for (boolean values : new boolean[] {true, false}) {
      for (boolean descending : new boolean[] {true, false}) {
        RangeOptions options =
            RangeOptions.defaults().withValues(values).withDescending(descending);
        expected(
            surprises,
            () -> {
              try (Database.RecordCursor cursor = database.range(KeyRange.all(), options)) {
                for (int i = 0; i < 100 && cursor.next(); i++) {
                  assertThat(cursor.key()).isNotNull();
                }
              }
            });
      }
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private static void expected(List<Throwable> surprises, Work work) {
    try {
      work.run();
    } catch (CorruptDatabaseException
        | UnsupportedFormatException
        | UnsupportedOperationException
        | java.nio.file.NoSuchFileException e) {
      assertThat(e.getMessage()).isNotBlank();
    } catch (IOException e) {
      assertThat(e.getMessage()).contains(".bsdb");
    } catch (Exception | Error e) {
      surprises.add(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theForgeryItselfIsSound(Golden golden) throws Exception {
    Path forged = forge(golden, lines(golden));
    assertThat(Database.verify(forged, (done, total) -> {}).records()).isEqualTo(3);
    try (Database database = Database.open(forged)) {
      golden.truth().checkGets(database);
    }
  }

  @Sampled(5)
  @ParameterizedTest
  @EnumSource
  void factsAreMissing(Golden golden) throws Exception {
    List<String> lines = lines(golden);
    List<AssertionError> errors = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      List<String> fewer = new ArrayList<>(lines);
      String lost = fewer.remove(i);
      collect(errors, () -> use(forge(golden, fewer), golden, "without " + lost));
      List<String> twice = new ArrayList<>(lines);
      twice.add(lost);
      collect(errors, () -> use(forge(golden, twice), golden, "twice " + lost));
    }
    collect(errors, () -> use(forge(golden, List.of()), golden, "without anything"));
    report(errors);
  }

  @ParameterizedTest
  @EnumSource(names = {"DICTIONARY", "APPROXIMATE"})
  void factsAreOthers(Golden golden) throws Exception {
    SplittableRandom random = Seeds.random("ForgedManifestTest facts");
    List<String> lines = lines(golden);
    List<AssertionError> errors = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String[] parts = lines.get(i).split("=", 2);
      for (String value : Rounds.some(VALUES, 5, random)) {
        List<String> other = new ArrayList<>(lines);
        other.set(i, parts[0] + "=" + value);
        collect(errors, () -> use(forge(golden, other), golden, parts[0] + "=" + value));
      }
    }
    report(errors);
  }

  private Path forgeShard(Golden golden, String routing) throws IOException {
    List<String> lines = new ArrayList<>(lines(golden));
    lines.set(lines.indexOf("shard.number=0"), "shard.number=3");
    lines.set(lines.indexOf("shard.count=1"), "shard.count=8");
    lines.set(lines.indexOf("shard.hash=none"), "shard.hash=" + routing);
    return forge(golden, lines);
  }

  /** The other shards' keys must not be called absent, whoever opens the shard. */
  @ParameterizedTest
  @EnumSource
  void aShardAnswersOnlyKeysOfItsOwn(Golden golden) throws Exception {
    Path forged = forgeShard(golden, KeySlots.NAME);
    Truth truth = golden.truth();
    boolean approximate = golden.approximate();
    int foreign = 0;
    try (Database database = Database.open(forged);
        SyncReader reader = new SyncReader(forged.toFile(), false, approximate, false, false)) {
      for (Truth.Entry record : truth.records()) {
        if (KeySlots.shard(record.key(), 8) == 3) {
          assertThat(database.get(record.key())).isNotNull();
          continue;
        }
        foreign++;
        List<ThrowingCallable> lookups =
            List.of(
                () -> database.get(record.key()),
                () -> database.read(record.key(), value -> value),
                () -> database.getAll(List.of(record.key())),
                () -> reader.getAsBytes(record.key()));
        for (ThrowingCallable lookup : lookups) {
          assertThatThrownBy(lookup)
              .isInstanceOfSatisfying(
                  WrongShardException.class,
                  e -> {
                    assertThat(e.slot()).isEqualTo(KeySlots.of(record.key()));
                    assertThat(e.shard()).isEqualTo(KeySlots.shard(record.key(), 8));
                  })
              .hasMessageContaining(forged.toString())
              .hasMessageContaining("belongs to shard " + KeySlots.shard(record.key(), 8))
              .hasMessageContaining("this is shard 3 of 8 with slots 6144 to 8191");
        }
        assertThat(database.getAsync(record.key()))
            .failsWithin(Duration.ofMinutes(1))
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(WrongShardException.class);
      }
    }
    if (foreign > 0 && !approximate) {
      assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("keys of shard 3 of 8");
    }
    assertThat(Database.statistics(forged).shard()).isEqualTo(3);
    assertThat(Database.statistics(forged).shards()).isEqualTo(8);
  }

  @ParameterizedTest
  @EnumSource
  void aShardOfUnknownRoutingIsRefused(Golden golden) throws Exception {
    Path forged = forgeShard(golden, "some-other");
    boolean approximate = golden.approximate();
    List<ThrowingCallable> readers =
        List.of(
            () -> Database.open(forged),
            () -> new SyncReader(forged.toFile(), false, approximate, false, false),
            () -> new AsyncReader(forged.toFile(), approximate, false, false),
            () -> Database.statistics(forged),
            () -> Database.verify(forged, (done, total) -> {}));
    for (ThrowingCallable reader : readers) {
      assertThatThrownBy(reader)
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining(forged.resolve(Manifest.FILE_NAME).toString())
          .hasMessageContaining("keys routed to shards by some-other");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPACT", "DICTIONARY"})
  void filesAreOthers(Golden golden) throws Exception {
    SplittableRandom random = Seeds.random("ForgedManifestTest files");
    List<String> lines = lines(golden);
    List<AssertionError> errors = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith("file=")) {
        String[] parts = lines.get(i).substring(5).split(" ");
        for (int part = 0; part < parts.length; part++) {
          for (String value : Rounds.some(VALUES, 5, random)) {
            String[] changed = parts.clone();
            changed[part] = value;
            List<String> other = new ArrayList<>(lines);
            other.set(i, "file=" + String.join(" ", changed));
            collect(errors, () -> use(forge(golden, other), golden, Arrays.toString(changed)));
          }
        }
      }
    }
    report(errors);
  }

  @ParameterizedTest
  @EnumSource
  void pagesHoldAnything(Golden golden) throws Exception {
    SplittableRandom random = Seeds.random("ForgedManifestTest");
    List<AssertionError> errors = new ArrayList<>();
    for (int round = 0; round < Rounds.of(6); round++) {
      collect(errors, () -> use(forgePage(golden, random), golden, "forged page"));
    }
    report(errors);
  }

  /** Each page is right and each key has a record, but not its own. */
  @ParameterizedTest
  @EnumSource(
      names = {"(V2_)?(HASHED_)?(APPROXIMATE|PACKED.*)"},
      mode = EnumSource.Mode.MATCH_NONE)
  void verificationFindsAnIndexThatLeadsElsewhere(Golden golden) throws Exception {
    DatabaseDirectory original = DataSet.open(golden.directory()).single();
    FileEntry index = original.manifest().files(FileKind.INDEX).get(0);
    List<Consumer<byte[]>> changes =
        List.of(
            page -> {
              byte[] first = Arrays.copyOf(page, 8);
              System.arraycopy(page, 8, page, 0, 8);
              System.arraycopy(first, 0, page, 8, 8);
            },
            page -> System.arraycopy(page, 16, page, 8, 8),
            page -> page[16] ^= 1);
    for (Consumer<byte[]> change : changes) {
      Path forged = forgePage(golden, index, change);
      Path file = forged.resolve(index.name(DataSet.open(forged).single().id()));
      assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
          .isInstanceOfSatisfying(
              CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(file))
          .hasMessageContaining("3 records found through the index");
    }
  }

  /** Each page is right, but a bin's filter denies or claims a record. */
  @Test
  void verificationFindsAWrongFilter() throws Exception {
    FileEntry data =
        DataSet.open(Golden.PACKED.directory()).single().manifest().files(FileKind.DATA).get(0);
    Path forged =
        forgePage(
            Golden.PACKED,
            data,
            page -> {
              int wrong = page[3] >>> 4 == 1 ? 2 : 1; // of the first bin
              page[3] = (byte) (page[3] & 0xF | wrong << 4);
            });
    assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("the filter");
  }

  /** Each page is right, but the filter denies or claims a record, or counts others. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void verificationFindsTheFilterOfOtherRecords(int round) throws Exception {
    FileEntry filter =
        DataSet.open(Golden.PACKED_FILTER.directory())
            .single()
            .manifest()
            .files(FileKind.FILTER)
            .get(0);
    int remainder = (128 + 3) / 8 + 1; // behind the bits that count the records of quotients
    Path forged =
        forgePage(
            Golden.PACKED_FILTER,
            filter,
            page -> {
              switch (round) {
                case 0 -> page[0] ^= 3; // moves a record of the first quotients
                case 1 -> page[remainder] ^= 1;
                default -> page[Page.PAYLOAD - 1] ^= 1; // of the padding
              }
            });
    assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("filter-")
        .hasMessageContaining("the filter of the records in the data files");
  }

  /** Each page is right, but the index does not say where the bins start. */
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_ZSTD"})
  void verificationFindsBinsThatAreElsewhere(Golden golden) throws Exception {
    FileEntry index =
        DataSet.open(golden.directory()).single().manifest().files(FileKind.INDEX).get(0);
    Path forged = forgePage(golden, index, page -> page[8] ^= 1); // behind two page numbers
    assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("as the index says");
  }

  /** Each block is right, but a lookup would pass over one, or stop before it. */
  @Test
  void verificationFindsBlocksThatNameAnotherPart() throws Exception {
    FileEntry data =
        DataSet.open(Golden.PACKED_ZSTD.directory())
            .single()
            .manifest()
            .files(FileKind.DATA)
            .get(0);
    int part = PackedPage.directory(1); // the first byte of the only bin
    Path forged = forgePage(Golden.PACKED_ZSTD, data, page -> page[part]--);
    assertThatThrownBy(() -> Database.verify(forged, (done, total) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("a block with a record in part");
  }

  /**
   * A database of which one page between header and footer is changed, and all checksums and
   * digests with it.
   */
  private Path forgePage(Golden golden, SplittableRandom random) throws IOException {
    DatabaseDirectory original = DataSet.open(golden.directory()).single();
    List<FileEntry> entries = original.manifest().files();
    FileEntry changed = entries.get(random.nextInt(entries.size()));
    return forgePage(
        golden,
        changed,
        page -> {
          for (int i = 1 + random.nextInt(8); i > 0; i--) {
            int at = random.nextInt(random.nextBoolean() ? 64 : 256);
            page[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : random.nextInt(3) - 1);
          }
        });
  }

  /** A database whose first page of content of a file is changed. */
  private Path forgePage(Golden golden, FileEntry changed, Consumer<byte[]> change)
      throws IOException {
    DatabaseDirectory original = DataSet.open(golden.directory()).single();
    byte[] bytes = Files.readAllBytes(original.file(changed));
    boolean hash = changed.file().kind() == FileKind.HASH;
    java.io.ByteArrayOutputStream pages = new java.io.ByteArrayOutputStream();
    ContentHash content = new ContentHash();
    PageEncoder encoder =
        new PageEncoder(
            (written, offset, length) -> {
              content.add(written, offset);
              pages.write(written, offset, length);
            },
            changed.file());
    byte[] page = Arrays.copyOfRange(bytes, Page.SIZE, 2 * Page.SIZE);
    if (bytes.length < 3 * Page.SIZE) {
      return forge(golden, lines(golden));
    }
    change.accept(page);
    if (hash) {
      int bodyPages = bytes.length / Page.SIZE - 3; // one page of checksums, header and footer
      java.nio.ByteBuffer checksums =
          java.nio.ByteBuffer.allocate(4 * bodyPages).order(java.nio.ByteOrder.LITTLE_ENDIAN);
      checksums.putInt(encoder.putUnsealed(page, 0));
      for (int i = 2; i <= bodyPages; i++) {
        checksums.putInt(encoder.putUnsealed(bytes, i * Page.SIZE));
      }
      encoder.put(checksums.array(), 0, checksums.capacity());
    } else {
      encoder.put(page, 0, Page.PAYLOAD);
      for (int at = 2 * Page.SIZE; at < bytes.length - Page.SIZE; at += Page.SIZE) {
        encoder.put(bytes, at, Page.PAYLOAD);
      }
    }
    encoder.pad();
    List<String> lines = new ArrayList<>();
    for (String line : lines(golden)) {
      lines.add(
          line.replace(Long.toHexString(changed.digest()), Long.toHexString(encoder.digest()))
              .replace("file.sha256=" + changed.sha256(), "file.sha256=" + content.finish()));
    }
    Path forged = forge(golden, lines);
    DatabaseId id =
        DatabaseId.derive((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    FileFrame frame = new FileFrame(changed.file(), id, changed.pages(), encoder.digest());
    java.io.ByteArrayOutputStream file = new java.io.ByteArrayOutputStream();
    file.write(frame.header());
    pages.writeTo(file);
    file.write(frame.footer());
    assertThat(file.size()).isEqualTo(bytes.length);
    Files.write(forged.resolve(changed.name(id)), file.toByteArray());
    return forged;
  }

  private static void collect(List<AssertionError> errors, Work work) {
    try {
      work.run();
    } catch (AssertionError e) {
      errors.add(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void report(List<AssertionError> errors) {
    if (!errors.isEmpty()) {
      StringBuilder all = new StringBuilder(errors.size() + " surprises:");
      errors.forEach(error -> all.append('\n').append(error.getMessage()));
      throw new AssertionError(all.toString(), errors.get(0));
    }
  }
}

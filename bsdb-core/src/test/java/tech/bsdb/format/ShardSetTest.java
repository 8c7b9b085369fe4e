package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What manifests of sets state, and which of their shards are held. */
class ShardSetTest {
  private static final Path FILE = Path.of("manifest.bsdb");
  private static final DatabaseId WHOLE = DatabaseId.derive(new byte[] {1});
  private static final DatabaseId OTHER = DatabaseId.derive(new byte[] {2});

  /** Shard i has 10 to the power of i records. */
  private static ShardSet set(int count) {
    List<ShardSet.Shard> shards = new ArrayList<>();
    long records = 1;
    for (int i = 0; i < count; i++) {
      shards.add(new ShardSet.Shard(i, DatabaseId.derive(new byte[] {3, (byte) i}), records));
      records = Math.multiplyExact(records, 10L);
    }
    return ShardSet.of(shards);
  }

  private static ShardSet many(int count) {
    return ShardSet.of(
        IntStream.range(0, count).mapToObj(i -> new ShardSet.Shard(i, OTHER, 1)).toList());
  }

  private static List<String> lines(ShardSet set) {
    String text = new String(set.manifest().encode(), StandardCharsets.UTF_8);
    return new ArrayList<>(List.of(text.split("\n")));
  }

  private static ShardSet read(List<String> lines) throws Exception {
    byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    return ShardSet.of(Manifest.decode(FILE, text));
  }

  @Test
  void aWholeSetHoldsAllShards() throws Exception {
    ShardSet set = set(5);
    assertThat(set.isWhole()).isTrue();
    assertThat(set.whole()).isNull();
    assertThat(set.held()).containsExactly(0, 1, 2, 3, 4);
    assertThat(set.heldShards()).isEqualTo(set.shards());
    assertThat(set.heldRecords()).isEqualTo(set.records()).isEqualTo(11_111);
    assertThat(set.shownHeld()).isEqualTo("shards 0-4 of 5");
    assertThat(set.holds(-1)).isFalse();
    assertThat(set.holds(5)).isFalse();
    assertThat(lines(set)).hasSize(10).noneMatch(line -> line.startsWith("set."));
    assertThat(read(lines(set))).isEqualTo(set);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 1",
    "4, 4, 10000",
    "3 0 1, '0-1,3', 1011",
    "4 3 2 1, 1-4, 11110",
    "2 0 4 2, '0,2,4', 10101",
    "0 1 3 4, '0-1,3-4', 11011"
  })
  void aPartialSetStatesWhatItHolds(String numbers, String ranges, long records) throws Exception {
    ShardSet set = set(5);
    List<Integer> wanted = List.of(numbers.split(" ")).stream().map(Integer::valueOf).toList();
    ShardSet part = set.holding(WHOLE, wanted);

    assertThat(part.isWhole()).isFalse();
    assertThat(part.whole()).isEqualTo(WHOLE);
    assertThat(part.held()).isSorted().hasSameElementsAs(wanted).doesNotHaveDuplicates();
    assertThat(part.shards()).isEqualTo(set.shards());
    assertThat(part.records()).isEqualTo(11_111);
    assertThat(part.heldRecords()).isEqualTo(records);
    assertThat(part.shownHeld()).isEqualTo("shards " + ranges + " of 5");
    for (int i = -1; i <= 5; i++) {
      assertThat(part.holds(i)).isEqualTo(wanted.contains(i));
    }
    List<String> expected = lines(set);
    expected.addAll(5, List.of("set.id=" + WHOLE, "set.held=" + ranges));
    assertThat(lines(part)).isEqualTo(expected);
    assertThat(read(expected)).isEqualTo(part);
    assertThat(DatabaseId.derive(part.manifest().encode()))
        .isNotEqualTo(DatabaseId.derive(set.manifest().encode()));
    assertThat(ShardSet.isSet(part.manifest())).isTrue();
  }

  @Test
  void aPartOfAPartIsOneOfTheSameSet() {
    ShardSet set = set(5);
    ShardSet part = set.holding(WHOLE, List.of(1, 2, 4));
    assertThat(part.holding(WHOLE, List.of(4, 1))).isEqualTo(set.holding(WHOLE, List.of(1, 4)));
    assertThat(part.holding(WHOLE, List.of(1, 2, 4))).isEqualTo(part);
    assertThat(set.holding(WHOLE, List.of(4, 3, 2, 1, 0))).isEqualTo(set);
    assertThatThrownBy(() -> part.holding(WHOLE, List.of(1, 3)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("shards [1, 3], not some of shards 1-2,4 of 5");
    assertThatThrownBy(() -> part.holding(OTHER, List.of(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(OTHER.toString());
    for (List<Integer> none : List.of(List.<Integer>of(), List.of(-1), List.of(0, 5))) {
      assertThatThrownBy(() -> set.holding(WHOLE, none))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ",",
        "-",
        "x",
        "0,",
        ",0",
        "0,,1",
        "0-",
        "-1",
        "-0",
        "+0",
        "00",
        "0-1-2",
        "0 ",
        " 0",
        "0, 2",
        "1,0",
        "0,0",
        "0,1",
        "0-1,2",
        "0-1,1",
        "0-2,1",
        "1-0",
        "1-1",
        "5",
        "0-5",
        "4-5",
        "0-4",
        "0,1,2,3,4",
        "0-1,2-4",
        "2147483647",
        "2147483648",
        "0-2147483647",
        "99999999999999999999",
        "\u0660",
        "0;2",
        "all"
      })
  void badHeldShards(String held) throws Exception {
    List<String> lines = lines(set(5).holding(WHOLE, List.of(1)));
    assertThat(lines.set(6, "set.held=" + held)).isEqualTo("set.held=1");
    assertThatThrownBy(() -> read(lines)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "xy", "0123456789abcdef", "null"})
  void badIds(String id) {
    List<String> lines = lines(set(5).holding(WHOLE, List.of(1)));
    for (String bad :
        List.of(id, WHOLE + id + "0", WHOLE.toString().toUpperCase(java.util.Locale.ROOT))) {
      lines.set(5, "set.id=" + bad);
      assertThatThrownBy(() -> read(lines)).as(bad).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void oneFactWithoutTheOther() {
    for (int missing : new int[] {5, 6}) {
      List<String> lines = lines(set(5).holding(WHOLE, List.of(1)));
      String line = lines.remove(missing);
      String name = line.substring(0, line.indexOf('='));
      assertThatThrownBy(() -> read(lines))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(name);
    }
  }

  /** The records are those of all shards, also of those that are not held. */
  @Test
  void theOtherFactsAreThoseOfTheWholeSet() {
    ShardSet part = set(5).holding(WHOLE, List.of(1));
    List<String> fewer = lines(part);
    fewer.set(1, "records=10");
    assertThatThrownBy(() -> read(fewer)).isInstanceOf(IllegalArgumentException.class);
    List<String> without = lines(part);
    without.remove(without.size() - 1);
    assertThatThrownBy(() -> read(without)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Thousands of ranges are read, but not shown. */
  @Test
  void manyRanges() throws Exception {
    ShardSet set = many(ShardSet.MOST);
    List<Integer> even = IntStream.range(0, ShardSet.MOST / 2).map(i -> 2 * i).boxed().toList();
    ShardSet part = set.holding(WHOLE, even);
    assertThat(read(lines(part))).isEqualTo(part);
    assertThat(part.heldRecords()).isEqualTo(ShardSet.MOST / 2);
    assertThat(part.shownHeld()).isEqualTo("8192 of 16384 shards");
    byte[] file = ManifestFile.encode(part.manifest());
    assertThat(ShardSet.of(ManifestFile.decode(FILE, file).manifest())).isEqualTo(part);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 40, 90, 91, 200})
  void manifestFilesAreReadAsTheyWereWritten(int shards) throws Exception {
    Manifest manifest = many(shards).manifest();
    byte[] file = ManifestFile.encode(manifest);
    ManifestFile read = ManifestFile.decode(FILE, file);
    assertThat(read.manifest().encode()).isEqualTo(manifest.encode());
    assertThat(read.id()).isEqualTo(DatabaseId.derive(manifest.encode()));
    int pages = (manifest.encode().length + Page.PAYLOAD - 1) / Page.PAYLOAD + 2;
    assertThat(file).hasSize(pages * Page.SIZE).isEqualTo(ManifestFile.encode(read.manifest()));
  }
}

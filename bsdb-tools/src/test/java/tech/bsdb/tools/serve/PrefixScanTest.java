package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.PartialSets;

/** {@code SCAN} with a prefix, in the order of the keys. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PrefixScanTest {
  private static final BuildOptions ORDERED = BuildOptions.defaults().withOrderedKeys(true);

  @TempDir Path folder;

  /** Keys of few bytes, among them those that are special in patterns. */
  private static NavigableMap<byte[], byte[]> records(int count) {
    Random random = new Random(3);
    byte[] octets = "ab*?[\\]^-\0\u00ff".getBytes(ISO_8859_1);
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    while (records.size() < count) {
      byte[] key = new byte[random.nextInt(7)];
      for (int i = 0; i < key.length; i++) {
        key[i] = octets[random.nextInt(octets.length)];
      }
      records.put(key, new byte[] {'v'});
    }
    return records;
  }

  private static List<String> texts(NavigableMap<byte[], byte[]> records) {
    return records.keySet().stream().map(key -> new String(key, ISO_8859_1)).toList();
  }

  private static Serving serving(Path directory) {
    Serving serving = new Serving(directory);
    serving.resp = true;
    return serving;
  }

  /** The keys of all calls, in their order, none of them twice. */
  private static List<String> scan(RespWire wire, String... options) throws IOException {
    List<String> keys = new ArrayList<>();
    String cursor = "0";
    do {
      cursor = scanOnce(wire, cursor, keys, options);
    } while (!cursor.equals("0"));
    assertThat(keys).doesNotHaveDuplicates();
    return keys;
  }

  private static String scanOnce(RespWire wire, String cursor, List<String> keys, String... options)
      throws IOException {
    String[] command = new String[2 + options.length];
    command[0] = "SCAN";
    command[1] = cursor;
    System.arraycopy(options, 0, command, 2, options.length);
    String[] lines = wire.ask(command).split("\r\n", -1);
    assertThat(lines[0]).isEqualTo("*2");
    for (int i = 5; i < lines.length; i += 2) {
      keys.add(lines[i]);
    }
    return lines[2];
  }

  private static String escaped(String prefix) {
    return prefix.replaceAll("[*?\\[\\\\]", "\\\\$0");
  }

  private static List<String> startingWith(String prefix, List<String> keys) {
    return keys.stream().filter(key -> key.startsWith(prefix)).toList();
  }

  @ParameterizedTest
  @CsvSource({"BLOCKED, 1", "PACKED, 1", "COMPACT, 5"})
  void itIsAFilterOfTheWholeInTheOrderOfTheKeys(Layout layout, int shards) throws IOException {
    NavigableMap<byte[], byte[]> records = records(2000);
    List<String> all = texts(records);
    Path database =
        Serving.buildBytes(
            folder.resolve("db"), records, ORDERED.withLayout(layout).withShards(shards));
    try (Serving serving = serving(database).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(new TreeSet<>(scan(wire, "COUNT", "100"))).isEqualTo(new TreeSet<>(all));
      assertThat(new TreeSet<>(scan(wire, "MATCH", "*"))).isEqualTo(new TreeSet<>(all));
      Random random = new Random(7);
      for (int i = 0; i < 60; i++) {
        String key = all.get(random.nextInt(all.size()));
        String prefix =
            key.substring(0, random.nextInt(key.length() + 1)) + (i % 9 == 8 ? "x" : "");
        String count = List.of("1", "10", "333", "100000").get(random.nextInt(4));
        List<String> found = scan(wire, "MATCH", escaped(prefix) + "*", "COUNT", count);
        List<String> expected = startingWith(prefix, all);
        if (prefix.isEmpty()) { // all keys: in any order
          assertThat(new TreeSet<>(found)).isEqualTo(new TreeSet<>(expected));
        } else {
          assertThat(found).as(prefix).isEqualTo(expected);
        }
      }
      assertThat(scan(wire, "MATCH", "a*", "TYPE", "string")).isEqualTo(startingWith("a", all));
      assertThat(scan(wire, "MATCH", "a*", "TYPE", "hash")).isEmpty();
      for (String other : List.of("a*b", "a?*", "[a]*", "a\\*", "ab", "*a")) {
        String regex =
            switch (other) {
              case "a*b" -> "a.*b";
              case "a?*" -> "a..*";
              case "[a]*" -> "a.*";
              case "a\\*" -> "a[*]";
              case "ab" -> "ab";
              default -> ".*a";
            };
        assertThat(new TreeSet<>(scan(wire, "MATCH", other, "COUNT", "100")))
            .as(other)
            .isEqualTo(
                new TreeSet<>(all.stream().filter(key -> key.matches("(?s)" + regex)).toList()));
      }
    }
  }

  @Test
  void withoutAnOrderItIsTheSameInAnotherOrder() throws IOException {
    NavigableMap<byte[], byte[]> records = records(2000);
    try (Serving serving = serving(Serving.buildBytes(folder.resolve("db"), records)).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(new TreeSet<>(scan(wire, "MATCH", "a*")))
          .isEqualTo(new TreeSet<>(startingWith("a", texts(records))));
    }
  }

  /** A call looks at as many keys as it is to return, however few of all keys these are. */
  @Test
  void aCallReturnsAsManyKeysAsAreAskedFor() throws IOException {
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < 30_000; i++) {
      records.put(String.format("k%05d", i).getBytes(UTF_8), new byte[0]);
    }
    for (int i = 0; i < 25; i++) {
      records.put(String.format("rare:%02d", i).getBytes(UTF_8), new byte[0]);
    }
    try (Serving serving =
            serving(Serving.buildBytes(folder.resolve("db"), records, ORDERED)).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      List<String> rare = new ArrayList<>();
      String cursor = "0";
      for (int size : new int[] {10, 20, 25}) {
        assertThat(rare).isEmpty();
        cursor = scanOnce(wire, "0", rare, "MATCH", "rare:*", "COUNT", "" + size);
        assertThat(rare).hasSize(size);
        assertThat(cursor.equals("0")).isEqualTo(size == 25);
        rare.clear();
      }
      List<String> many = new ArrayList<>();
      cursor = scanOnce(wire, "0", many, "MATCH", "k*", "COUNT", "1000000");
      assertThat(many).hasSize(10_000);
      assertThat(cursor).isNotEqualTo("0");
    }
  }

  @Test
  void cursorsAreStableAndOfOneVersion() throws IOException {
    NavigableMap<byte[], byte[]> records = records(1000);
    List<String> all = texts(records);
    Path one = Serving.buildBytes(folder.resolve("one"), records, ORDERED.withShards(3));
    Path two = Serving.buildOrdered(folder.resolve("two"), Map.of("a", "b"));
    Path store = folder.resolve("store");
    publish(one, store, "v1");
    try (Serving serving = serving(store).start();
        Serving copy = serving(one).start();
        RespWire wire = RespWire.to(serving.respPort());
        RespWire other = RespWire.to(copy.respPort());
        Wire admin = serving.administrate()) {
      List<String> keys = new ArrayList<>();
      String first = scanOnce(wire, "0", keys, "MATCH", "a*", "COUNT", "20");
      String plain = scanOnce(wire, "0", new ArrayList<>(), "COUNT", "20");
      assertThat(scanOnce(other, "0", new ArrayList<>(), "MATCH", "a*", "COUNT", "20"))
          .isEqualTo(first);
      for (String cursor = first; !cursor.equals("0"); ) {
        cursor = scanOnce(other, cursor, keys, "MATCH", "a*", "COUNT", "100");
      }
      assertThat(keys).isEqualTo(startingWith("a", all));

      // the cursor tells the order, whatever the pattern
      List<String> rest = new ArrayList<>();
      for (String cursor = first; !cursor.equals("0"); ) {
        cursor = scanOnce(wire, cursor, rest, "COUNT", "1000");
      }
      assertThat(rest).isEqualTo(all.subList(all.indexOf(keys.get(19)) + 1, all.size()));
      List<String> filtered = new ArrayList<>();
      for (String cursor = plain; !cursor.equals("0"); ) {
        cursor = scanOnce(wire, cursor, filtered, "MATCH", "a*", "COUNT", "1000");
      }
      assertThat(startingWith("a", all)).containsAll(filtered);

      String overtaken = "-ERR the cursor belongs to another version";
      // 1000 records: a place takes 12 bits, and 9 of them the number of a key
      String last = Long.toString(Long.parseLong(first) | (1L << 12) - 1);
      assertThat(wire.ask("SCAN", last, "MATCH", "a*")).as("no such key").startsWith(overtaken);
      publish(two, store, "v2");
      admin.post("/reload", "", new byte[0]);
      for (String cursor : List.of(first, plain)) {
        assertThat(wire.ask("SCAN", cursor, "MATCH", "a*")).startsWith(overtaken);
      }
    }
  }

  private static void publish(Path database, Path store, String version) {
    CommandRun run =
        CommandRun.bsdb(
            "publish",
            database.toString(),
            store.toString(),
            "--version",
            version,
            "--allow-key-change",
            "--max-shrink",
            "100");
    assertThat(run.code()).as(run.toString()).isZero();
  }

  @Test
  void aPartOfASetHasItsOwnKeys() throws IOException {
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < 1000; i++) {
      records.put(("k" + i).getBytes(UTF_8), new byte[0]);
    }
    Path set = Serving.buildBytes(folder.resolve("set"), records, ORDERED.withShards(4));
    Path part = PartialSets.copy(set, folder.resolve("part"), 1, 3);
    List<String> own = startingWith("k1", Serving.ownKeys(part, texts(records)));
    try (Serving serving = serving(part).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(scan(wire, "MATCH", "k1*", "COUNT", "7")).isEqualTo(own);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "50", "100000"})
  void aNodeScansTheKeysOfItsSlots(String count) throws IOException {
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < 900; i++) {
      records.put(("k" + i).getBytes(UTF_8), new byte[0]);
    }
    Serving.buildBytes(folder.resolve("db"), records, ORDERED);
    try (ServingCluster nodes =
        new ServingCluster(folder, false, Duration.ofHours(1), node -> {})) {
      for (String node : List.of("a", "b", "c")) {
        List<String> own =
            startingWith("k1", texts(records)).stream()
                .filter(key -> ServingCluster.owner(key).equals(node))
                .toList();
        assertThat(own).isNotEmpty();
        try (RespWire wire = nodes.connect(node)) {
          assertThat(scan(wire, "MATCH", "k1*", "COUNT", count)).isEqualTo(own);
        }
      }
      nodes.move(List.of("", "0-10922", "10923-16383"));
      try (RespWire wire = nodes.connect("a")) {
        assertThat(scan(wire, "MATCH", "k*")).isEmpty();
      }
    }
  }
}

package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** Entries of any length come back by partition, those of each writer in the order of adding. */
class SpillTest {
  private static final int CHUNK = 1 << 10;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SpillTest");

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(Leaks.tree(directory)).isEmpty();
    Leaks.assertNone(directory);
  }

  private static void add(Spill.Writer writer, int partition, byte[] entry) throws IOException {
    byte[] room = writer.room(partition, entry.length);
    int at = writer.end(partition);
    System.arraycopy(entry, 0, room, at, entry.length);
    writer.added(partition, at + entry.length);
  }

  private static byte[] read(Spill spill, int partition) throws IOException {
    java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
    spill.read(partition, (bytes, from, to) -> all.write(bytes, from, to - from));
    return all.toByteArray();
  }

  private static void check(Spill spill, int partition, List<byte[]> entries) throws IOException {
    java.io.ByteArrayOutputStream expected = new java.io.ByteArrayOutputStream();
    for (byte[] entry : entries) {
      expected.write(entry);
    }
    assertThat(spill.count(partition)).isEqualTo(entries.size());
    assertThat(spill.bytes(partition)).isEqualTo(expected.size());
    Truth.same(read(spill, partition), expected.toByteArray(), "read");
  }

  /** Lengths around that of a chunk, and far longer ones. */
  private byte[] entry() {
    int length =
        switch (random.nextInt(10)) {
          case 0 -> CHUNK - Spill.HEAD - 2 + random.nextInt(5);
          case 1 -> 1 + random.nextInt(10 * CHUNK);
          default -> 1 + random.nextInt(100);
        };
    return Truth.bytes(random, length);
  }

  @Test
  void entriesOfOneWriterComeBackInOrder() throws Exception {
    for (int round = 0; round < 20; round++) {
      int partitions = 1 + random.nextInt(40);
      List<List<byte[]>> added = lists(partitions);
      try (Spill spill = Spill.evenly(directory, "test", partitions, CHUNK)) {
        Spill.Writer writer = spill.onlyWriter();
        for (int i = random.nextInt(2000); i > 0; i--) {
          int partition = random.nextInt(partitions);
          byte[] entry = entry();
          add(writer, partition, entry);
          added.get(partition).add(entry);
          assertThat(spill.count(partition)).isEqualTo(added.get(partition).size());
        }
        spill.seal();
        for (int i = 0; i < partitions; i++) {
          check(spill, i, added.get(i));
        }
      }
    }
  }

  @Test
  void entriesOfSeveralWritersComeBackWhole() throws Exception {
    int partitions = 5;
    int writers = 3;
    List<List<byte[]>> added = lists(partitions);
    try (Spill spill = new Spill(directory.resolve("one.part"), partitions, CHUNK)) {
      List<Spill.Writer> all = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        all.add(spill.new Writer());
      }
      for (int i = 0; i < 3000; i++) {
        int partition = random.nextInt(partitions);
        byte[] entry = entry();
        int writer = random.nextInt(writers);
        entry[0] = (byte) writer;
        add(all.get(writer), partition, entry);
        added.get(partition).add(entry);
      }
      for (Spill.Writer writer : all) {
        writer.finish();
      }
      spill.seal();
      for (int i = 0; i < partitions; i++) {
        List<byte[]> left = new ArrayList<>(added.get(i));
        byte[] found = read(spill, i);
        assertThat(spill.count(i)).isEqualTo(left.size());
        for (int at = 0; at < found.length; ) {
          byte writer = found[at];
          byte[] next = left.stream().filter(entry -> entry[0] == writer).findFirst().orElseThrow();
          Truth.same(Arrays.copyOfRange(found, at, at + next.length), next, "an entry");
          left.remove(next);
          at += next.length;
        }
        assertThat(left).isEmpty();
      }
    }
  }

  private static List<List<byte[]>> lists(int partitions) {
    List<List<byte[]>> lists = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      lists.add(new ArrayList<>());
    }
    return lists;
  }

  /** The open chunks of the only writer stay in memory, but no entry that is longer than one. */
  @Test
  void theFileHasWhatWasPlanned() throws Exception {
    for (int length : new int[] {1, 7, 300, CHUNK - Spill.HEAD, CHUNK - Spill.HEAD + 1, 5000}) {
      Path file = directory.resolve("one.part");
      try (Spill spill = new Spill(file, 3, CHUNK)) {
        Spill.Writer writer = spill.onlyWriter();
        int fitting = Math.max(1, (CHUNK - Spill.HEAD) / length);
        for (int i = 0; i < fitting; i++) {
          add(writer, 1, Truth.bytes(random, length));
        }
        spill.seal();
        boolean isLong = length > CHUNK - Spill.HEAD;
        assertThat(Files.size(file)).isEqualTo(isLong ? Spill.HEAD + length : 0);
        add(writer, 1, Truth.bytes(random, length));
        spill.seal();
        assertThat(Files.size(file))
            .isEqualTo(Spill.mostBytes(fitting + (isLong ? 1 : 0), length, CHUNK));
        assertThat(Spill.mostBytes(10_000, length, 3, CHUNK))
            .isBetween(10_000L * length * 9 / 10, 10_000L * (length + Spill.HEAD));
      }
    }
  }

  @Test
  void filesAreCreatedWhenTheyAreNeededAndGoWithTheirLastPartition() throws Exception {
    try (Spill spill = new Spill(directory, "lazy", new int[] {0, 1, 1, 2}, CHUNK)) {
      Spill.Writer writer = spill.onlyWriter();
      assertThat(Leaks.tree(directory)).isEmpty();
      byte[] entry = Truth.bytes(random, 2 * CHUNK);
      add(writer, 1, entry);
      add(writer, 2, entry);
      long place = spill.putAside(3, entry, 5, 100);
      spill.seal();
      assertThat(Leaks.tree(directory)).containsExactlyInAnyOrder("lazy-1.part", "lazy-2.part");
      check(spill, 0, List.of());
      check(spill, 1, List.of(entry));
      spill.drop(0);
      spill.drop(1);
      assertThatThrownBy(() -> read(spill, 1)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> read(spill, 0)).isInstanceOf(IllegalStateException.class);
      check(spill, 2, List.of(entry));
      spill.drop(2);
      assertThat(Leaks.tree(directory)).containsExactly("lazy-2.part");
      assertThatThrownBy(() -> spill.readAside(place, 100, 0, new byte[7], (part, length) -> {}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("lazy-2.part: the temporary file was damaged");
      spill.drop(3);
      assertThatThrownBy(() -> spill.readAside(place, 100, 0, new byte[7], (part, length) -> {}))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aFileInTheWayIsKept() throws Exception {
    Path inTheWay = Files.createFile(directory.resolve("test-1.part"));
    assertThatThrownBy(() -> Spill.evenly(directory, "test", 2, CHUNK))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThatThrownBy(() -> new Spill(inTheWay, 2, CHUNK))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(Leaks.tree(directory)).containsExactly("test-1.part");
    Files.delete(inTheWay);
  }
}

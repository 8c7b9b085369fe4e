package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Layout;
import tech.bsdb.PagesFile;
import tech.bsdb.Seeds;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.SpookyCollision;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Window;

/** The records of ranges of signatures, in files that may hold them in a wrong order. */
class SignatureCursorTest {
  private static final int BINS = 400;

  private static final Facts FACTS =
      new Facts(
          Layout.PACKED,
          0,
          0,
          0,
          0,
          0,
          0,
          SignatureAlgorithm.SPOOKY,
          0,
          0,
          0,
          0,
          0,
          1,
          0,
          0,
          0,
          null,
          new Facts.Bins(BINS, true),
          null,
          null);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureCursorTest");
  private int made;

  /** A record, and the first half of its key's signature. */
  private record Signed(long high, byte[] key, int valueLength) {}

  private Signed signed(long high, long low, int valueLength) {
    return new Signed(high, SpookyCollision.key(high, low, random.nextInt()), valueLength);
  }

  private List<Signed> records(int count) {
    List<Signed> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = random.nextInt(50) == 0 ? random.nextInt(40_000) : random.nextInt(200);
      records.add(signed(random.nextLong(), random.nextLong(), length));
    }
    records.sort(Comparator.comparing(Signed::high, Long::compareUnsigned));
    return records;
  }

  /** A file of records, and its index. */
  private record Written(PagesFile file, BinIndex index) {
    PackedSource open() throws IOException {
      DataFile data = new DataFile(file.open(new BufferedEngine(), true), file.check(), 0);
      return new PackedSource(List.of(data), index, FACTS);
    }
  }

  /** Writes records into the bins of their signatures, or where those before them are. */
  private Written write(List<Signed> records) throws IOException {
    List<List<Signed>> bins = new ArrayList<>();
    for (int i = 0; i < BINS; i++) {
      bins.add(new ArrayList<>());
    }
    int last = 0;
    for (Signed record : records) {
      last = Math.max(last, (int) BinIndex.bin(record.high, BINS));
      bins.get(last).add(record);
    }
    PagesFile file =
        new PagesFile(directory.resolve("data" + made++), new FileIdentity(FileKind.DATA, 0));
    BinIndex.Builder index = new BinIndex.Builder(BINS, true);
    PackedWriter writer = new PackedWriter(file.pages(), true, index::add);
    for (List<Signed> bin : bins) {
      long length = 0;
      for (Signed record : bin) {
        length += RecordFrame.length(record.key.length, record.valueLength);
      }
      writer.startBin(length, 0);
      for (Signed record : bin) {
        byte[] bytes = new byte[(int) RecordFrame.length(record.key.length, record.valueLength)];
        int at = RecordFrame.put(bytes, 0, record.key.length, record.valueLength);
        System.arraycopy(record.key, 0, bytes, at, record.key.length);
        writer.put(bytes, 0, bytes.length);
      }
    }
    writer.finish();
    return new Written(file.close(), index.build());
  }

  /** The keys of the records in so many ranges. */
  private static List<String> read(Written written, long ranges) throws IOException {
    List<String> keys = new ArrayList<>();
    for (long i = 0; i < ranges; i++) {
      try (PackedSource source = written.open()) {
        SignatureCursor records =
            SignatureCursor.over(source, ranges, i, i + 1, new Window(), true);
        while (records.isThere()) {
          keys.add(HexFormat.of().formatHex(records.record().key()));
          records.next();
        }
      }
    }
    return keys;
  }

  @Test
  void rangesHaveEveryRecordOnceAndInOrder() throws IOException {
    for (int round = 0; round < 30; round++) {
      List<Signed> records = records(1 + random.nextInt(2_000));
      Written written = write(records);
      assertThat(read(written, 1 + random.nextInt(20)))
          .isEqualTo(records.stream().map(record -> HexFormat.of().formatHex(record.key)).toList());
    }
  }

  @Test
  void keysWithTheSameSignatureMayComeInAnyOrderButOnce() throws IOException {
    List<Signed> records = new ArrayList<>();
    for (int salt = 0; salt < 3; salt++) {
      records.add(new Signed(5, SpookyCollision.key(5, 9, salt), 10));
    }
    assertThat(read(write(records), 1)).hasSize(3);
    Collections.reverse(records);
    assertThat(read(write(records), 7)).hasSize(3);
    records.add(records.get(0));
    assertDamaged(records, 1, "two with the same key");
    records.remove(1);
    assertDamaged(records, 2, "two with the same key");
  }

  @Test
  void recordsInAnotherOrderAreDamage() throws IOException {
    List<Signed> records = records(500);
    for (int round = 0; round < 20; round++) {
      List<Signed> swapped = new ArrayList<>(records);
      int at = random.nextInt(records.size() - 1);
      Collections.swap(swapped, at, at + 1);
      assertDamaged(swapped, 1, "the order of their signatures");
    }
    Signed low = signed(7, 8, 3);
    Signed lower = signed(7, -9, 3); // unsigned, so it is the greater one
    assertThat(read(write(List.of(low, lower)), 1)).hasSize(2);
    assertDamaged(List.of(lower, low), 1, "the order of their signatures");
  }

  private void assertDamaged(List<Signed> records, long ranges, String why) throws IOException {
    Written written = write(records);
    assertThatThrownBy(() -> read(written, ranges))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(why)
        .hasMessageContaining("data" + (made - 1));
  }
}

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
import tech.bsdb.Seeds;
import tech.bsdb.SpookyCollision;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.SignedBins.Signed;
import tech.bsdb.lookup.SignedBins.Written;

/** The records of ranges of signatures, in files that may hold them in a wrong order. */
class SignatureCursorTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureCursorTest");
  private int made;

  private Path next() {
    return directory.resolve("data" + made++);
  }

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
      Written written = SignedBins.write(next(), records);
      assertThat(read(written, 1 + random.nextInt(20)))
          .isEqualTo(
              records.stream().map(record -> HexFormat.of().formatHex(record.key())).toList());
    }
  }

  @Test
  void keysWithTheSameSignatureMayComeInAnyOrderButOnce() throws IOException {
    List<Signed> records = new ArrayList<>();
    for (int salt = 0; salt < 3; salt++) {
      records.add(new Signed(5, SpookyCollision.key(5, 9, salt), 10));
    }
    assertThat(read(SignedBins.write(next(), records), 1)).hasSize(3);
    Collections.reverse(records);
    assertThat(read(SignedBins.write(next(), records), 7)).hasSize(3);
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
    assertThat(read(SignedBins.write(next(), List.of(low, lower)), 1)).hasSize(2);
    assertDamaged(List.of(lower, low), 1, "the order of their signatures");
  }

  private void assertDamaged(List<Signed> records, long ranges, String why) throws IOException {
    Written written = SignedBins.write(next(), records);
    assertThatThrownBy(() -> read(written, ranges))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(why)
        .hasMessageContaining("data" + (made - 1));
  }
}

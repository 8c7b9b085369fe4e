package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Seeds;
import tech.bsdb.SpookyCollision;
import tech.bsdb.data.PageCursor;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordView;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.lookup.SignedBins.Signed;

/** Joins of records of which many have the same signature, against joins of lists. */
class SignatureJoinTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureJoinTest");
  private int made;

  /** A signature, and one of the keys that have it. */
  private record Of(long high, long low, int salt) {
    Signed signed(int valueLength, int filling) {
      return new Signed(high, SpookyCollision.key(high, low, salt), valueLength, (byte) filling);
    }
  }

  private PackedSource written(List<Signed> records) throws IOException {
    return SignedBins.write(directory.resolve("data" + made++), records).open();
  }

  /** Keys in the order of their signatures; those with the same one come in any order. */
  private List<Of> universe(int signatures) {
    List<Of> all = new ArrayList<>();
    for (int i = 0; i < signatures; i++) {
      long high = random.nextLong();
      long low = random.nextLong();
      int keys = random.nextInt(4) > 0 ? 1 : 1 + random.nextInt(12);
      for (int salt = 0; salt < keys; salt++) {
        all.add(new Of(high, low, salt));
      }
    }
    return all;
  }

  private List<Signed> some(List<Of> universe, int percent, int filling) {
    List<Of> some = new ArrayList<>();
    for (Of each : universe) {
      if (random.nextInt(100) < percent) {
        some.add(each);
      }
    }
    for (int i = some.size() - 1; i > 0; i--) { // any order, then by signature
      Collections.swap(some, i, random.nextInt(i + 1));
    }
    some.sort(
        Comparator.comparing(Of::high, Long::compareUnsigned)
            .thenComparing(Of::low, Long::compareUnsigned));
    return some.stream()
        .map(
            each -> {
              boolean isLong = random.nextInt(20) == 0;
              return each.signed(isLong ? 16_000 + random.nextInt(1_000) : 5, filling);
            })
        .toList();
  }

  private static boolean sameKey(Signed one, Signed two) {
    return Arrays.equals(one.key(), two.key());
  }

  private static String line(String which, byte[] key, int valueLength) {
    return which + " " + HexFormat.of().formatHex(key) + " " + valueLength;
  }

  /** What a join passes on, by loops over all pairs. */
  private static List<String> expected(List<Signed> first, List<Signed> second, boolean seeks) {
    List<String> lines = new ArrayList<>();
    List<Signed> left = new ArrayList<>(second);
    for (int i = 0; i <= first.size(); i++) {
      Signed one = i < first.size() ? first.get(i) : null;
      boolean starts = i == 0 || one == null || !isSame(first.get(i - 1), one);
      while (starts // those with a lesser signature
          && !left.isEmpty()
          && (one == null || compare(left.get(0), one) < 0)) {
        lines.add(line("second", left.get(0).key(), left.remove(0).valueLength()));
      }
      if (one == null) {
        break;
      }
      Signed found = left.stream().filter(two -> sameKey(one, two)).findFirst().orElse(null);
      if (found != null) {
        left.remove(found);
        lines.add(line("both " + one.valueLength(), one.key(), found.valueLength()));
      } else if (!seeks || second.stream().anyMatch(two -> isSame(one, two))) {
        lines.add(line("first", one.key(), one.valueLength()));
      }
    }
    return lines;
  }

  private static boolean isSame(Signed one, Signed two) {
    return compare(one, two) == 0;
  }

  private static int compare(Signed one, Signed two) {
    return Long.compareUnsigned(one.high(), two.high());
  }

  /** Writes down what a join passes on, and reads the values. */
  private record Lines(List<String> lines, PackedSource second) implements SignatureJoin.Receiver {
    @Override
    public void onlyFirst(SignatureCursor first) {
      RecordScanner record = first.record();
      lines.add(line("first", record.key(), record.valueLength()));
    }

    @Override
    public void both(RecordView one, RecordView record, long high, long low) throws IOException {
      checkSignature(record, high, low);
      checkValue(record);
      assertThat(record.key()).isEqualTo(one.key());
      lines.add(line("both " + one.valueLength(), one.key(), record.valueLength()));
    }

    @Override
    public void onlySecond(RecordView record, long high, long low) throws IOException {
      checkValue(record);
      checkSignature(record, high, low);
      lines.add(line("second", record.key(), record.valueLength()));
    }

    private void checkSignature(RecordView record, long high, long low) {
      Signature signature = new Signature();
      SignatureFunction.of(second.facts())
          .sign(record.bytes(), record.keyFrom(), record.keyLength(), signature);
      assertThat(List.of(high, low)).isEqualTo(List.of(signature.high, signature.low));
    }

    private void checkValue(RecordView record) throws IOException {
      byte[] bytes = record.bytes();
      int from = record.valueFrom();
      if (record.isLong()) {
        bytes = new byte[record.valueLength()];
        from = 0;
        PageCursor.ofValue(second.files(), record.place(), bytes.length)
            .read(bytes, 0, bytes.length);
      }
      for (int i = from; i < from + record.valueLength(); i++) {
        assertThat(bytes[i]).isEqualTo((byte) 2);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyRecordIsPassedOnOnceAndInOrder(boolean seeks) throws IOException {
    for (int round = 0; round < 40; round++) {
      List<Of> universe = universe(random.nextInt(300));
      List<Signed> first = some(universe, random.nextInt(101), 1);
      List<Signed> second = some(universe, random.nextInt(101), 2);
      List<String> lines = new ArrayList<>();
      try (PackedSource one = written(first);
          PackedSource two = written(second)) {
        SignatureJoin join = new SignatureJoin(one, two);
        Lines receiver = new Lines(lines, two);
        long ranges = 1L + random.nextInt(9);
        for (long i = 0; i < ranges; i++) {
          if (seeks) {
            join.seek(ranges, i, i + 1, 1 + random.nextInt(4), receiver);
          } else {
            join.run(ranges, i, i + 1, random.nextBoolean(), receiver);
          }
        }
      }
      assertThat(lines).isEqualTo(expected(first, second, seeks));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aKeyThatTheFirstDatabaseHasTwiceIsDamage(int between) throws IOException {
    List<Signed> first = new ArrayList<>();
    List<Signed> second = new ArrayList<>();
    first.add(new Of(5, 9, 0).signed(3, 1));
    for (int salt = 1; salt <= between; salt++) {
      first.add(new Of(5, 9, salt).signed(3, 1));
    }
    first.add(first.get(0));
    second.add(first.get(0));
    try (PackedSource one = written(first);
        PackedSource two = written(second)) {
      SignatureJoin join = new SignatureJoin(one, two);
      assertThatThrownBy(() -> join.run(1, 0, 1, false, new Ignored()))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("two with the same key");
      assertThatThrownBy(() -> join.seek(1, 0, 1, 1, new Ignored()))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("two with the same key");
    }
  }

  /** Receives what is of no interest. */
  private static final class Ignored implements SignatureJoin.Receiver {
    @Override
    public void onlyFirst(SignatureCursor first) {}

    @Override
    public void both(RecordView first, RecordView second, long high, long low) {}

    @Override
    public void onlySecond(RecordView second, long high, long low) {}
  }
}

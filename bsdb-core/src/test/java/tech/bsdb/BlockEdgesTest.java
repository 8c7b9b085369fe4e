package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;

/** Records that end a byte before, at or behind the end of a page or a stripe. */
class BlockEdgesTest {
  private static final int PAYLOAD = Page.PAYLOAD;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("BlockEdgesTest");
  private final Truth truth = new Truth();

  /**
   * Adds a record of exactly that length, if there is one: with a key of 5 or 300 bytes, or of
   * another length.
   */
  private int add(int length) {
    int keyLength = random.nextInt(4) == 0 ? 300 : 5;
    int valueLength = length - RecordFrame.headerLength(keyLength, 0) - keyLength;
    if (valueLength > RecordFrame.SHORT_VALUE && keyLength == 5) {
      valueLength -= RecordFrame.WIDE - RecordFrame.SHORT;
    }
    if (valueLength < 0) {
      return 0;
    }
    byte[] key = Truth.bytes(random, keyLength);
    truth.add(key, Truth.bytes(random, valueLength));
    truth.absent(Truth.bytes(random, keyLength));
    return (int) RecordFrame.length(keyLength, valueLength);
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 1",
    "BLOCKED, 4",
    "COMPACT, 1",
    "COMPACT, 4",
    "COMPRESSED, 1",
    "COMPRESSED, 4",
    "PACKED, 1",
    "PACKED_COMPRESSED, 4"
  })
  void recordsEndAroundTheEndOfAPage(Layout layout, int files) throws Exception {
    int used = 0;
    for (int i = 0; i < Rounds.longOrShort(1500, 600); i++) {
      int room = PAYLOAD - used;
      int around = random.nextInt(9) - 4;
      int length =
          switch (random.nextInt(6)) {
            case 0 -> PAYLOAD + around;
            case 1 -> (1 + random.nextInt(9)) * PAYLOAD + around;
            case 2 -> 8 + random.nextInt(400);
            case 3 -> room + PAYLOAD + around;
            default -> room + around;
          };
      length = add(length);
      if (layout == Layout.BLOCKED && length > room && used > 0) {
        used = 0;
      }
      used = layout == Layout.BLOCKED && length > PAYLOAD ? 0 : (used + length) % PAYLOAD;
    }
    Path target = directory.resolve("db");
    truth.build(
        target,
        BuildOptions.defaults().withLayout(layout).withDataFiles(files).withDictionaryBytes(0));
    truth.check(target);
  }

  @Sampled(2)
  @ParameterizedTest
  @CsvSource({"BLOCKED", "COMPACT", "COMPRESSED"}) // packed data has no stripes
  void recordsEndAroundTheEndOfAStripe(Layout layout) throws Exception {
    int stripe = (int) (RecordAddress.STRIPE / Page.SIZE - 1) * PAYLOAD;
    for (int around : Rounds.everything() ? List.of(-5, -1, 0, 1, 5) : List.of(-1, 0, 1)) {
      int left = stripe + around;
      left -= add(left - 1000);
      add(left); // ends "around" the first stripe of the first file
      for (int i = 0; i < 10; i++) {
        add(100);
      }
      add(3 * stripe + around); // more than a stripe
      for (int i = 0; i < 10; i++) {
        add(100);
      }
    }
    Path target = directory.resolve("db");
    truth.build(
        target, BuildOptions.defaults().withLayout(layout).withDataFiles(2).withDictionaryBytes(0));
    truth.check(target);
  }

  @ParameterizedTest
  @CsvSource({"BLOCKED, 128", "COMPRESSED, 128", "PACKED, 128", "PACKED_COMPRESSED, 128"})
  void moreFilesThanAreNeeded(Layout layout, int files) throws Exception {
    for (int i = 0; i < 100; i++) {
      add(10 + i * 10);
    }
    Path target = directory.resolve("db");
    truth.build(
        target,
        BuildOptions.defaults().withLayout(layout).withDataFiles(files).withDictionaryBytes(0));
    truth.check(target);
  }
}

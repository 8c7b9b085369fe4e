package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Layout;
import tech.bsdb.Sampled;
import tech.bsdb.Truth;

/** The same from spilled records to packed pages of compressed bins. */
@Sampled(3)
class CompressedPackStageTest extends PackStageTest {
  @Override
  Layout layout() {
    return Layout.PACKED_COMPRESSED;
  }

  /** Some values can be compressed, and some cannot. */
  @Override
  byte[] value(SplittableRandom random, int length) {
    byte[] value = Truth.bytes(random, length);
    Arrays.fill(value, random.nextInt(length + 1), length, (byte) 'x');
    return value;
  }

  @Test
  void binsHoldAboutTwoBlocks() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 10_000; i++) {
      long records = random.nextLong(1L << 1 + random.nextInt(38));
      long bytes = records * 3 + random.nextLong(1 + (records << random.nextInt(20)));
      int block = 512 << random.nextInt(12);
      PackedShape shape = PackedShape.compressed(records, bytes, block);
      String name = shape + " of " + records + " records, " + bytes + " bytes, by " + block;
      assertThat(shape.spanning()).as(name).isTrue();
      assertThat(shape.units()).as(name).isBetween(1, RecordSpill.PARTITIONS);
      assertThat(RecordSpill.PARTITIONS % shape.units()).as(name).isZero();
      assertThat(shape.bins() % shape.units()).as(name).isZero();
      assertThat(shape.bins()).as(name).isBetween(1L, records + shape.units());
      if (shape.bins() > 64 && bytes / records < block) {
        assertThat((double) bytes / shape.bins()).as(name).isBetween(1.8 * block, 2 * block + 1.0);
      }
    }
  }
}

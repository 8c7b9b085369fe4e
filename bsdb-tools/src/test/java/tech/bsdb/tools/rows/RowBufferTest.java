package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.SeedInFailure;

/** What it writes is what Avro's own encoder writes, and what its decoder reads. */
@ExtendWith(SeedInFailure.class)
class RowBufferTest {
  private final RowBuffer buffer = new RowBuffer();

  @Test
  void valuesAreThoseOfAvrosEncoder() throws Exception {
    long seed = SeedInFailure.SEED;
    Random random = new Random(seed);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder avro = EncoderFactory.get().binaryEncoder(out, null);
    for (int i = 0; i < 20_000; i++) {
      long number = random.nextLong() >> random.nextInt(64);
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      buffer.putLong(number);
      avro.writeLong(number);
      buffer.putFloat(Float.intBitsToFloat((int) number));
      avro.writeFloat(Float.intBitsToFloat((int) number));
      buffer.putDouble(Double.longBitsToDouble(number));
      avro.writeDouble(Double.longBitsToDouble(number));
      buffer.putBytes(bytes, 0, bytes.length);
      avro.writeBytes(bytes);
      buffer.putBytes(ByteBuffer.wrap(bytes));
      avro.writeBytes(bytes);
      buffer.put(bytes);
      avro.writeFixed(bytes);
      buffer.put(i & 1);
      avro.writeBoolean((i & 1) == 1);
    }
    avro.flush();
    assertThat(buffer.copy()).isEqualTo(out.toByteArray());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 8191, 8192, 100_000})
  void aBlockIsCountedWhenItEnds(int count) throws Exception {
    buffer.putLong(-5);
    int start = buffer.length();
    for (int i = 0; i < count; i++) {
      buffer.putLong(i);
    }
    buffer.insertLong(start, count);
    buffer.put(0);
    buffer.put(0);
    buffer.putLong(7);

    var decoder = DecoderFactory.get().binaryDecoder(buffer.copy(), null);
    assertThat(decoder.readLong()).isEqualTo(-5);
    assertThat(decoder.readArrayStart()).isEqualTo(count);
    for (int i = 0; i < count; i++) {
      assertThat(decoder.readLong()).isEqualTo(i);
    }
    assertThat(decoder.arrayNext()).isZero();
    assertThat(decoder.readArrayStart()).isZero();
    assertThat(decoder.readLong()).isEqualTo(7);
    assertThat(decoder.isEnd()).isTrue();
  }

  @Test
  void digitsAreThoseOfJava() {
    long power = 1;
    for (int i = 0; i < 19; i++, power *= 10) {
      for (long number : new long[] {power, power - 1, -power, 1 - power, 9 * power - 1}) {
        assertDigits(number);
      }
    }
    assertDigits(Long.MAX_VALUE);
    assertDigits(Long.MIN_VALUE);
    assertDigits(Long.MIN_VALUE + 1);
  }

  private void assertDigits(long number) {
    buffer.reset();
    buffer.putNumber(number);
    assertThat(buffer.copy()).asString().isEqualTo(String.valueOf(number));
  }

  @Test
  void aLargeArrayIsNotKept() {
    byte[] large = new byte[3 << 20];
    buffer.put(large);
    buffer.reset();
    assertThat(buffer.length()).isZero();
    assertThat(buffer.bytes().length).isLessThan(1 << 20);
  }

  @Test
  void itIsCutAtItsEndOnly() {
    buffer.putText("abc");
    buffer.truncate(2);
    assertThat(buffer.copy()).asString().isEqualTo("ab");
    assertThatThrownBy(() -> buffer.truncate(3)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
  }
}

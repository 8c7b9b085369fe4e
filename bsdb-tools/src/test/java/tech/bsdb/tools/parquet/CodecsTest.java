package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import net.jpountz.lz4.LZ4Factory;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.xerial.snappy.Snappy;

class CodecsTest {
  private static final byte[] TEXT = "the same again and again, ".repeat(100).getBytes(UTF_8);

  /** Brotli has no encoder here: this is what brotli -q 11 makes of the text. */
  private static final String BROTLI = "GycK+KVAWHKQQy5rBVJABiFl3A8jBwAk";

  private final Codecs codecs = new Codecs();

  private static byte[] compressed(CompressionCodecName name) throws IOException {
    return switch (name) {
      case UNCOMPRESSED -> TEXT;
      case SNAPPY -> Snappy.compress(TEXT);
      case GZIP -> {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
          gzip.write(TEXT);
        }
        yield out.toByteArray();
      }
      case ZSTD -> Zstd.compress(TEXT);
      case LZ4_RAW -> LZ4Factory.safeInstance().fastCompressor().compress(TEXT);
      case LZ4 ->
          inFrames(List.of(Arrays.copyOf(TEXT, 1000), Arrays.copyOfRange(TEXT, 1000, TEXT.length)));
      case BROTLI -> Base64.getDecoder().decode(BROTLI);
      default -> throw new AssertionError(name);
    };
  }

  /** A frame for each text. */
  private static byte[] inFrames(List<byte[]> texts) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] text : texts) {
      byte[] packed = LZ4Factory.safeInstance().fastCompressor().compress(text);
      out.write(ByteBuffer.allocate(8).putInt(text.length).putInt(packed.length).array());
      out.write(packed);
    }
    return out.toByteArray();
  }

  private byte[] decompressed(CompressionCodecName name, byte[] bytes, int size)
      throws IOException {
    BytesInput page = codecs.getDecompressor(name).decompress(BytesInput.from(bytes), size);
    return page.toInputStream().readAllBytes();
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"LZO"})
  void aPageComesBack(CompressionCodecName name) throws Exception {
    byte[] packed = compressed(name);

    assertThat(decompressed(name, packed, TEXT.length)).isEqualTo(TEXT);
    ByteBuffer out = ByteBuffer.allocate(TEXT.length);
    codecs
        .getDecompressor(name)
        .decompress(ByteBuffer.wrap(packed), packed.length, out, TEXT.length);
    assertThat(out.array()).isEqualTo(TEXT);
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"LZO"})
  void aPageOfAnotherLengthIsDamaged(CompressionCodecName name) throws Exception {
    byte[] packed = compressed(name);
    for (int size : new int[] {1, TEXT.length - 1, TEXT.length + 1, 10 * TEXT.length, -1}) {
      assertThatThrownBy(() -> decompressed(name, packed, size))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("damaged: a page");
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"LZO", "UNCOMPRESSED"})
  void damageIsAnErrorOrOtherBytesButNothingElse(CompressionCodecName name) throws Exception {
    byte[] packed = compressed(name);
    Random random = new Random(1);
    for (int i = 0; i < 500; i++) {
      byte[] damaged = packed.clone();
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      byte[] cut =
          random.nextBoolean() ? damaged : Arrays.copyOf(damaged, random.nextInt(packed.length));
      try {
        assertThat(decompressed(name, cut, TEXT.length)).hasSize(TEXT.length);
      } catch (IOException expected) {
        assertThat(expected).hasMessageStartingWith("damaged: a page is not valid " + name);
      }
    }
  }

  @Test
  void lz4WithoutFramesIsTakenForWhatItIs() throws Exception {
    assertThat(
            decompressed(
                CompressionCodecName.LZ4, compressed(CompressionCodecName.LZ4_RAW), TEXT.length))
        .isEqualTo(TEXT);
  }

  @Test
  void aFrameOfSeveralPieces() throws Exception {
    byte[] first = LZ4Factory.safeInstance().fastCompressor().compress(TEXT);
    byte[] frame =
        ByteBuffer.allocate(12 + 2 * first.length)
            .putInt(2 * TEXT.length)
            .putInt(first.length)
            .put(first)
            .putInt(first.length)
            .put(first)
            .array();
    assertThat(decompressed(CompressionCodecName.LZ4, frame, 2 * TEXT.length))
        .startsWith(TEXT)
        .endsWith(TEXT);
  }

  @Test
  void lzoIsRefused() {
    assertThatThrownBy(() -> codecs.getDecompressor(CompressionCodecName.LZO))
        .hasMessageContaining("LZO, which is not supported");
  }
}

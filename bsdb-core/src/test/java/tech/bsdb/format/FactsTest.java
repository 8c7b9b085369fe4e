package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Layout;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.ValueElements;

class FactsTest {
  private static final Path FILE = Path.of("manifest.bsdb");

  private static final Facts COMPRESSED =
      new Facts(
          Layout.COMPRESSED,
          1,
          2,
          3,
          4,
          5,
          6,
          SignatureAlgorithm.SPOOKY,
          -7,
          8,
          9,
          0,
          10,
          11,
          1024,
          12,
          13,
          "[\"int\"]",
          null,
          null,
          null,
          new Facts.Order(List.of(70_000L, 200L, 1L), new AddressBits(7, 40, 16)));

  private static Manifest decoded(Facts facts) throws Exception {
    byte[] text = facts.manifest("some-hash").build().encode();
    return Manifest.decode(FILE, text);
  }

  @Test
  void factsAreReadAsTheyWereWritten() throws Exception {
    Facts approximate =
        new Facts(
            null,
            1,
            2,
            3,
            4,
            5,
            6,
            SignatureAlgorithm.MUM,
            7,
            8,
            9,
            255,
            0,
            1,
            0,
            0,
            0,
            null,
            null,
            null,
            null,
            null);
    Facts packed =
        new Facts(
            Layout.PACKED_COMPRESSED,
            1,
            2,
            3,
            4,
            5,
            6,
            SignatureAlgorithm.MUM,
            -7,
            0,
            0,
            0,
            10,
            11,
            512,
            22,
            0,
            null,
            null,
            new Facts.Bins(12, true, null),
            null,
            new Facts.Order(List.of(), AddressBits.NONE));
    Facts filtered =
        new Facts(
            Layout.PACKED,
            1,
            2,
            3,
            4,
            5,
            6,
            SignatureAlgorithm.MUM,
            -7,
            0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            null,
            new ValueElements(ValueElements.Type.F32, 384),
            new Facts.Bins(12, false, null),
            new Facts.Filter(16, 1L << 37),
            null);
    for (Facts facts : new Facts[] {COMPRESSED, packed, filtered, approximate}) {
      Manifest manifest = decoded(facts);
      assertThat(Facts.of(FILE, manifest)).isEqualTo(facts);
      assertThat(Facts.format(manifest)).isEqualTo(facts.equals(COMPRESSED) ? 1 : 2);
      assertThat(Facts.hashKind(manifest)).isEqualTo("some-hash");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "filter.bits=0, 'filter.bits=0, not in 1 to 16'",
    "filter.bits=17, 'filter.bits=17, not in 1 to 16'",
    "filter.bits=8, 'the manifest lacks \"filter.quotients\"'",
    "filter.bits=8 filter.quotients=0, 'filter.quotients=0, not in 1 to 137438953472'",
    "filter.bits=8 filter.quotients=137438953473, 'filter.quotients=137438953473, not in'"
  })
  void filtersOutOfRangeAreRefused(String lines, String message) throws Exception {
    Facts packed =
        new Facts(
            Layout.PACKED,
            1,
            2,
            3,
            4,
            5,
            6,
            SignatureAlgorithm.MUM,
            -7,
            0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            null,
            null,
            new Facts.Bins(12, false, null),
            null,
            null);
    String text =
        new String(packed.manifest("none").build().encode(), StandardCharsets.UTF_8)
            + lines.replace(' ', '\n')
            + "\n";
    Manifest manifest = Manifest.decode(FILE, text.getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> Facts.of(FILE, manifest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order.levels=1",
        "order.levels=1 order.place=1,2",
        "order.levels=1 order.place=1,2,4294967296",
        "order.levels=1 order.place=-1,2,3",
        "order.levels=1 order.place=7,48,9",
        "order.levels=1,0 order.place=0,0,0",
        "order.levels=x order.place=0,0,0",
        "order.levels=549755813888 order.place=0,0,0"
      })
  void ordersOutOfRangeAreRefused(String lines) throws Exception {
    Facts plain = Facts.of(FILE, decoded(COMPRESSED));
    String text =
        new String(plain.manifest("some-hash").build().encode(), StandardCharsets.UTF_8)
                .replaceAll("order\\..*\n", "")
            + lines.replace(' ', '\n').replace(',', ' ')
            + "\n";
    Manifest manifest = Manifest.decode(FILE, text.getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> Facts.of(FILE, manifest)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "f16 1, F16, 1",
    "f64 268435454, F64, 268435454",
    "u8 2147483639, U8, 2147483639",
    "bf16 384, , ",
    "f8 9, , "
  })
  void elementsOfUnknownTypesAreIgnored(
      String text, ValueElements.@Nullable Type type, @Nullable Integer count) throws Exception {
    ValueElements expected = type == null ? null : new ValueElements(type, count);
    assertThat(withElements(text).valueElements()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"f32", "f32 0", "f32 -1", "f32 536870910", "f32 x", "f32  3", "f32 3 4"})
  void elementsOutOfRangeAreRefused(String text) {
    assertThatThrownBy(() -> withElements(text)).isInstanceOf(IllegalArgumentException.class);
  }

  private static Facts withElements(String elements) throws Exception {
    String text =
        new String(COMPRESSED.manifest("some-hash").build().encode(), StandardCharsets.UTF_8)
            + "value.elements="
            + elements
            + "\n";
    return Facts.of(FILE, Manifest.decode(FILE, text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void theTextIsThis() {
    byte[] text = COMPRESSED.manifest("some-hash").build().encode();
    assertThat(new String(text, StandardCharsets.UTF_8))
        .isEqualTo(
            """
            format=1
            records=1
            duplicates.dropped=2
            bytes.key=3
            bytes.value=4
            longest.key=5
            longest.value=6
            layout=compressed
            hash.kind=some-hash
            hash.seed=-7
            hash.buckets=8
            hash.checksum.bits=9
            index.width=0
            shard.number=10
            shard.count=11
            shard.hash=crc16-slots
            zstd.block=1024
            zstd.level=12
            zstd.longest=13
            order.levels=70000 200 1
            order.place=7 40 16
            value.schema=["int"]
            """);
  }
}

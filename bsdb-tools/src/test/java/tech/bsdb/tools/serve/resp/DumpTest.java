package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** What DUMP returns has the form that RESTORE reads. */
class DumpTest {
  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void theChecksumIsThatOfRedis() {
    assertThat(Dump.crc("123456789".getBytes(US_ASCII))).isEqualTo(0xe9c6d914c4b8d9caL);
  }

  @Test
  void stringsAndHashesHaveLengthsOfOneTwoOrFiveBytes() {
    for (int length : new int[] {0, 63, 64, 16_383, 16_384}) {
      Dump dump = Dump.string();
      dump.add(new byte[length], 0, length);
      byte[] whole = dump.end();
      String head =
          switch (length) {
            case 0 -> "0000";
            case 63 -> "003f";
            case 64 -> "004040";
            case 16_383 -> "007fff";
            default -> "008000004000";
          };
      assertThat(hex(whole)).startsWith(head + "00".repeat(length) + "0600");
      assertThat(whole).hasSize(head.length() / 2 + length + 10);
    }
    Dump hash = Dump.hash(1);
    hash.add("xfield".getBytes(US_ASCII), 1, 5);
    hash.add("v".getBytes(US_ASCII), 0, 1);
    assertThat(hex(hash.end()))
        .startsWith("0401" + "05" + hex("field".getBytes(US_ASCII)) + "0176");
  }
}

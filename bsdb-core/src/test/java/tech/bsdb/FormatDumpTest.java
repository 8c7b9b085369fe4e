package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * The dump in docs/FORMAT.md §11 is that of the golden database, byte for byte, and the signatures
 * in §5 are those of their keys.
 */
class FormatDumpTest {
  private static final Pattern NAME = Pattern.compile("\\*\\*(\\S+\\.bsdb)\\*\\*");

  @Test
  void itIsTheGoldenDatabase() throws Exception {
    Map<String, byte[]> dumped = dump();
    List<Path> files = Golden.files(Golden.BLOCKED.directory());
    assertThat(dumped.keySet())
        .isEqualTo(
            files.stream().map(file -> file.getFileName().toString()).collect(Collectors.toSet()));
    for (Path file : files) {
      assertThat(dumped.get(file.getFileName().toString()))
          .as(file.getFileName().toString())
          .isEqualTo(Files.readAllBytes(file));
    }
  }

  @Test
  void itsSignaturesAreThose() throws Exception {
    String text = Files.readString(document());
    record Example(String key, long seed) {}
    for (Example each :
        List.of(
            new Example("bsdb", 0),
            new Example("empty", 0),
            new Example("", 0),
            new Example("x".repeat(40), 7))) {
      byte[] key = Truth.utf8(each.key);
      Signature signature = new Signature();
      for (SignatureAlgorithm algorithm : SignatureAlgorithm.values()) {
        SignatureFunction.of(algorithm, each.seed).sign(key, 0, key.length, signature);
        assertThat(text)
            .contains(String.format("0x%016x", signature.high))
            .contains(String.format("0x%016x", signature.low));
      }
    }
  }

  private static Path document() {
    return Path.of(System.getProperty("basedir", "")).resolve("../docs/FORMAT.md");
  }

  /** The files in the last section, by their names. */
  private static Map<String, byte[]> dump() throws IOException {
    List<String> lines = Files.readAllLines(document());
    Map<String, byte[]> files = new LinkedHashMap<>();
    String name = null;
    List<String> block = null;
    for (String line : lines.subList(start(lines), lines.size())) {
      Matcher heading = NAME.matcher(line);
      if (heading.matches()) {
        name = heading.group(1);
      } else if (line.equals("```") && block != null && name != null) {
        files.put(name, bytes(block));
        block = null;
        name = null;
      } else if (line.equals("```") && name != null) {
        block = new ArrayList<>();
      } else if (block != null) {
        block.add(line);
      }
    }
    return files;
  }

  private static int start(List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith("## 11.")) {
        return i;
      }
    }
    throw new AssertionError("docs/FORMAT.md has no section 11");
  }

  /** What {@code od -A d -t x1z} printed; lines that begin with # are remarks. */
  private static byte[] bytes(List<String> lines) {
    byte[] bytes = new byte[0];
    byte[] last = new byte[0];
    boolean repeat = false;
    for (String line : lines) {
      if (line.startsWith("#")) {
        continue;
      }
      if (line.equals("*")) {
        repeat = true;
        continue;
      }
      int offset = Integer.parseInt(line.substring(0, 7));
      assertThat(repeat || offset == bytes.length).as("a gap before: %s", line).isTrue();
      int at = bytes.length;
      bytes = Arrays.copyOf(bytes, offset);
      for (int i = at; i < offset; i++) {
        bytes[i] = last[(i - at) % last.length];
      }
      repeat = false;
      if (line.length() > 7) {
        last = row(line.substring(8, line.indexOf("  >")));
        bytes = Arrays.copyOf(bytes, offset + last.length);
        System.arraycopy(last, 0, bytes, offset, last.length);
      }
    }
    return bytes;
  }

  private static byte[] row(String hex) {
    String[] numbers = hex.trim().split(" ", -1);
    byte[] row = new byte[numbers.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) Integer.parseInt(numbers[i], 16);
    }
    return row;
  }
}

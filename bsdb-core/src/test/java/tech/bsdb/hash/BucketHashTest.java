package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

class BucketHashTest {
  /** HotSpot's FreqInlineSize: the most bytes of bytecode of a hot method that it inlines. */
  private static final int INLINED_BYTES = 325;

  @TempDir Path directory;

  /** Checksums of every width are read where they were written, also across two words. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 7, 8, 13, 21, 31, 32})
  void noKeyIsLostWhateverItsChecksumBits(int checksumBits) throws Exception {
    Truth truth = Truth.random(Seeds.random("BucketHashTest"), 3000, 3);
    Path database = directory.resolve("db");
    truth.build(
        database,
        BuildOptions.defaults().withHash(HashAlgorithm.GOV).withChecksumBits(checksumBits));
    try (Database opened = Database.open(database)) {
      truth.checkGets(opened);
    }
  }

  @Test
  void aSlotIsSmallEnoughToBeInlined() throws Exception {
    StringWriter code = new StringWriter();
    Path classes =
        Path.of(BucketHash.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ToolProvider javap = ToolProvider.findFirst("javap").orElseThrow();
    PrintWriter out = new PrintWriter(code);
    assertThat(javap.run(out, out, "-c", "-cp", classes.toString(), BucketHash.class.getName()))
        .as(code.toString())
        .isZero();
    String slot =
        code.toString()
            .lines()
            .dropWhile(line -> !line.contains("long slot(long, long)"))
            .takeWhile(line -> !line.isBlank())
            .reduce("", (all, line) -> all + line + "\n");
    Matcher last = Pattern.compile("(\\d+): lreturn\n$").matcher(slot);
    assertThat(last.find()).as(slot).isTrue();
    assertThat(Integer.parseInt(last.group(1)) + 1).isLessThanOrEqualTo(INLINED_BYTES);
  }
}

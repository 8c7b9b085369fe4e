package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;

class BucketHashTest {
  /** HotSpot's FreqInlineSize: the most bytes of bytecode of a hot method that it inlines. */
  private static final int INLINED_BYTES = 325;

  @Test
  void candidateIsSmallEnoughToBeInlined() throws Exception {
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
            .dropWhile(line -> !line.contains("long candidate(long, long)"))
            .takeWhile(line -> !line.isBlank())
            .reduce("", (all, line) -> all + line + "\n");
    Matcher last = Pattern.compile("(\\d+): lreturn\n$").matcher(slot);
    assertThat(last.find()).as(slot).isTrue();
    assertThat(Integer.parseInt(last.group(1)) + 1).isLessThanOrEqualTo(INLINED_BYTES);
  }
}

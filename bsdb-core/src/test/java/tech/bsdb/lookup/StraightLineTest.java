package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lookup in memory is a method of its own when it is compiled; {@link MemoryGet} says why. */
class StraightLineTest {
  /** HotSpot inlines no method of more bytes of bytecode, however hot (FreqInlineSize). */
  private static final int INLINED_BYTES = 325;

  @ParameterizedTest
  @ValueSource(classes = {PackedGet.class, SlotGet.class})
  void itIsTooLongToBeInlined(Class<? extends MemoryGet> lookups) throws Exception {
    StringWriter code = new StringWriter();
    Path classes = Path.of(lookups.getProtectionDomain().getCodeSource().getLocation().toURI());
    ToolProvider javap = ToolProvider.findFirst("javap").orElseThrow();
    PrintWriter out = new PrintWriter(code);
    assertThat(javap.run(out, out, "-c", "-cp", classes.toString(), lookups.getName())).isZero();
    Matcher last = Pattern.compile("(\\d+): areturn\\s+\\}").matcher(code.toString());
    assertThat(last.find()).as(code.toString()).isTrue();
    assertThat(Integer.parseInt(last.group(1)) + 1).isGreaterThan(INLINED_BYTES);
  }
}

package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps three lines away from stderr. The bundle of the AWS SDK has a hidden copy of SLF4J 1.7,
 * which finds no logging there, cannot be given any, and says so in lines that begin with {@code
 * SLF4J: }; there is no setting against them. The lines of later versions begin differently.
 */
final class Slf4jWarnings {
  private static final String BEGINNING = "SLF4J: ";

  private Slf4jWarnings() {}

  /** Leaves such lines out from here on. */
  static synchronized void silence() {
    if (!(System.err instanceof Filter)) {
      System.setErr(new Filter(System.err));
    }
  }

  private static final class Filter extends PrintStream {
    Filter(PrintStream below) {
      super(below, /* autoFlush= */ true, UTF_8);
    }

    @Override
    public void println(@Nullable String line) {
      if (line == null || !line.startsWith(BEGINNING)) {
        super.println(line);
      }
    }
  }
}

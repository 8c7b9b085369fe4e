package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Suppresses three lines on stderr. The AWS SDK bundle contains a relocated copy of SLF4J 1.7,
 * which cannot be given a logging backend and complains in lines that begin with {@code SLF4J: };
 * no setting turns them off. The lines of later versions begin differently.
 */
final class Slf4jWarnings {
  private static final String BEGINNING = "SLF4J: ";

  private Slf4jWarnings() {}

  /** Suppresses such lines from now on. */
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

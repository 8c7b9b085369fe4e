package tech.bsdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import tech.bsdb.io.Engines;

/** The engines that this machine offers for temporary files. */
public final class Offered {
  private static final List<OpenOptions.Engine> ENGINES =
      Arrays.stream(OpenOptions.Engine.values()).filter(Offered::isOffered).toList();

  private Offered() {}

  /** What tests go through. */
  public static List<OpenOptions.Engine> engines() {
    return ENGINES;
  }

  /** All of them, or in the short form the mapped one and another. */
  public static List<OpenOptions.Engine> some(SplittableRandom random) {
    if (Rounds.everything()) {
      return ENGINES;
    }
    List<OpenOptions.Engine> others = new ArrayList<>(ENGINES);
    others.remove(OpenOptions.Engine.MAPPED);
    return List.of(OpenOptions.Engine.MAPPED, others.get(random.nextInt(others.size())));
  }

  /** Whether every lookup of an engine waits for the device. */
  public static boolean readsDevice(OpenOptions.Engine engine) {
    return engine == OpenOptions.Engine.DIRECT || engine == OpenOptions.Engine.IO_URING;
  }

  private static boolean isOffered(OpenOptions.Engine engine) {
    return engine == OpenOptions.Engine.AUTO
        || Engines.unavailable(
                engine.name().toLowerCase(Locale.ROOT),
                Path.of(System.getProperty("java.io.tmpdir")))
            == null;
  }
}

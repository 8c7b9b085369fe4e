package tech.bsdb.tools;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * The seed of the random tests of this module, which {@code -Dbsdb.seed=} replays. As a test
 * extension, it adds the seed to every failure, whether an assertion or an exception.
 */
public final class SeedInFailure implements TestExecutionExceptionHandler {
  /** The seed. */
  public static final long SEED = Long.getLong("bsdb.seed", System.nanoTime());

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw withSeed(thrown);
  }

  static Throwable withSeed(Throwable thrown) {
    return thrown instanceof TestAbortedException
        ? thrown
        : new AssertionError("replay with -Dbsdb.seed=" + SEED + ": " + thrown, thrown);
  }
}

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes in the given order until the first failure; for scripts/inject-faults.
 *
 * <p>Arguments: a file with the names of the classes, a file for the result, and the tags to leave
 * out. The result is {@code passed} and the number of tests, or {@code failed}, the class, the test
 * and the first line of the error, separated by tabs; or {@code broken}, if the tests could not run.
 */
public final class FirstFailure {
  private FirstFailure() {}

  private static final class Listener implements TestExecutionListener {
    private final Path result;
    private long passed;

    Listener(Path result) {
      this.result = result;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult outcome) {
      if (outcome.getStatus() == TestExecutionResult.Status.FAILED) {
        String error = outcome.getThrowable().map(Throwable::toString).orElse("");
        String line = error.lines().filter(each -> !each.isBlank()).findFirst().orElse("");
        if (test.getParentId().isEmpty()) {
          finish("broken\t" + error, 2); // the engine itself: no test has seen anything
        }
        finish("failed\t" + name(test) + "\t" + line.strip().replace('\t', ' '), 1);
      } else if (test.isTest()) {
        passed++;
      }
    }

    /** The class and the test, separated by a tab. */
    private static String name(TestIdentifier test) {
      String type = "";
      String method = test.getDisplayName();
      for (var segment : test.getUniqueIdObject().getSegments()) {
        switch (segment.getType()) {
          case "class", "class-template" -> type = segment.getValue();
          case "method", "test-template" -> method = segment.getValue();
          default -> {}
        }
      }
      return type + "\t" + method.replaceAll("\\(.*", "");
    }

    /** Ends the process at once, whatever threads a test left behind. */
    void finish(String text, int code) {
      try {
        Files.writeString(result, text + "\n");
      } catch (java.io.IOException e) {
        e.printStackTrace();
        code = 2;
      }
      Runtime.getRuntime().halt(code);
    }
  }

  /** Runs the classes. */
  public static void main(String[] args) throws Exception {
    List<String> names = Files.readAllLines(Path.of(args[0]));
    Listener listener = new Listener(Path.of(args[1]));
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String name : names) {
      request.selectors(selectClass(name));
    }
    LauncherDiscoveryRequest tests =
        request.filters(TagFilter.excludeTags(List.of(args[2].split(",", -1)))).build();
    LauncherFactory.create().execute(tests, listener);
    listener.finish("passed\t" + listener.passed, 0);
  }
}

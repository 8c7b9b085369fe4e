package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** All resources are closed, the last first, and no failure is lost. */
class ResourcesTest {
  private final Resources resources = new Resources();
  private final List<String> closed = new ArrayList<>();
  private final IOException unreadable = new IOException("unreadable");
  private final IllegalStateException illegal = new IllegalStateException("illegal");
  private final OutOfMemoryError error = new OutOfMemoryError("thrown by a test");

  private void add(String name) {
    resources.add(() -> closed.add(name));
  }

  @Test
  void theLastIsClosedFirstAndEachOnce() throws Exception {
    Closeable own = () -> closed.add("own");
    assertThat(resources.add(own)).isSameAs(own);
    add("second");
    resources.close();
    resources.close();
    assertThat(closed).containsExactly("second", "own");
  }

  private void addFailures() {
    add("a");
    resources.add(
        () -> {
          throw error;
        });
    add("b");
    resources.add(
        () -> {
          throw illegal;
        });
    resources.add(
        () -> {
          throw unreadable;
        });
    add("c");
  }

  @Test
  void theFirstFailureIsThrownWithTheOthers() {
    addFailures();
    assertThatThrownBy(resources::close).isSameAs(unreadable);
    assertThat(unreadable.getSuppressed()).containsExactly(illegal, error);
    assertThat(closed).containsExactly("c", "b", "a");
  }

  @Test
  void anEarlierFailureIsKept() throws Exception {
    addFailures();
    IOException earlier = new IOException("earlier");
    resources.closeAfter(earlier);
    assertThat(earlier.getSuppressed()).containsExactly(unreadable, illegal, error);
    assertThat(closed).containsExactly("c", "b", "a");
    resources.close();
  }
}

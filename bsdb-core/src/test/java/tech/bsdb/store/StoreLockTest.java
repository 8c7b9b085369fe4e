package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Fork;

/** One holder at a time, in this process and among others, until it lets go or dies. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoreLockTest {
  @TempDir Path store;

  /** Takes the lock of a store, says whether it has it, and keeps it until it is killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws IOException {
      StoreLock lock = StoreLock.tryTake(Path.of(args[0]), StoreLock.PUBLISH);
      System.out.write(lock == null ? 'n' : 'y');
      System.out.flush();
      System.in.read();
      System.exit(lock == null ? 1 : 0);
    }
  }

  @Test
  void anotherProcessThatHoldsItKeepsThisOneOutUntilItDies() throws Exception {
    Process other = Fork.start(Holder.class, store.toString());
    try {
      assertThat(other.getInputStream().read()).isEqualTo('y');
      assertThat(StoreLock.tryTake(store, StoreLock.PUBLISH)).isNull();
      try (StoreLock another = StoreLock.tryTake(store, StoreLock.SWITCH)) {
        assertThat(another).isNotNull();
      }
    } finally {
      other.destroyForcibly().waitFor();
    }
    try (StoreLock mine = StoreLock.tryTake(store, StoreLock.PUBLISH)) {
      assertThat(mine).isNotNull();
      assertThat(StoreLock.tryTake(store, StoreLock.PUBLISH)).isNull();
      Process late = Fork.start(Holder.class, store.toString());
      try {
        assertThat(late.getInputStream().read()).isEqualTo('n');
      } finally {
        late.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  void aRemovedLockMayBeTakenAnew() throws Exception {
    StoreLock first = StoreLock.tryTake(store, StoreLock.PUBLISH);
    assertThat(first).isNotNull();
    first.remove();
    assertThat(store).isEmptyDirectory();
    try (StoreLock second = StoreLock.tryTake(store, StoreLock.PUBLISH)) {
      assertThat(second).isNotNull();
      assertThat(Files.exists(store.resolve(StoreLock.PUBLISH))).isTrue();
    }
  }
}

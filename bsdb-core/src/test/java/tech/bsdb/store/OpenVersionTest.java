package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenVersionTest {
  @TempDir Path folder;

  private OpenVersion served(Database database, Runnable idle) {
    return new OpenVersion(database, "v", "id", Instant.EPOCH, Duration.ZERO, idle);
  }

  @Test
  void isIdleOnceRetiredAndGivenBack() throws Exception {
    AtomicInteger idle = new AtomicInteger();
    try (Database database = Database.open(Versions.build(folder.resolve("db"), "x"))) {
      OpenVersion served = served(database, idle::incrementAndGet);
      assertThat(served.tryAcquire()).isTrue();
      assertThat(served.tryAcquire()).isTrue();
      served.release();
      served.retire();
      assertThat(served.tryAcquire()).isFalse();
      assertThat(served.isIdle()).isFalse();
      assertThat(idle).hasValue(0);
      served.release();
      assertThat(served.isIdle()).isTrue();
      assertThat(idle).hasValue(1);
    }
  }

  @Test
  void aLeaseThatIsClosedTwiceGivesUpNoOther() throws Exception {
    try (Database database = Database.open(Versions.build(folder.resolve("db"), "x"))) {
      OpenVersion served = served(database, () -> {});
      assertThat(served.tryAcquire()).isTrue();
      assertThat(served.tryAcquire()).isTrue();
      Lease lease = new Lease(served);
      lease.close();
      lease.close();
      served.retire();
      assertThat(served.isIdle()).isFalse();
      assertThatThrownBy(lease::database).isInstanceOf(IllegalStateException.class);
      served.release();
      assertThat(served.isIdle()).isTrue();
    }
  }

  /** As the reloading database does it, with nothing to open, so that the race is met often. */
  @Test
  void noLeaseOutlivesItsVersion() throws Exception {
    int rounds = 100_000;
    AtomicLong heard = new AtomicLong();
    try (Database database = Database.open(Versions.build(folder.resolve("db"), "x"))) {
      AtomicReference<OpenVersion> current =
          new AtomicReference<>(served(database, heard::incrementAndGet));
      AtomicReference<String> failure = new AtomicReference<>();
      AtomicInteger running = new AtomicInteger(3);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Thread thread =
            new Thread(
                () -> {
                  for (OpenVersion now = current.get(); now != null; now = current.get()) {
                    if (now.tryAcquire()) {
                      if (now.isIdle()) {
                        failure.set("idle under a lease");
                      }
                      now.release();
                    }
                  }
                  running.decrementAndGet();
                });
        thread.start();
        threads.add(thread);
      }
      List<OpenVersion> retired = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        OpenVersion old = current.getAndSet(served(database, heard::incrementAndGet));
        old.retire();
        retired.add(old);
      }
      current.getAndSet(null).retire();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(running).hasValue(0);
      assertThat(failure.get()).isNull();
      assertThat(retired).allMatch(OpenVersion::isIdle);
      assertThat(heard.get())
          .as("versions that had a lease when retired")
          .isLessThanOrEqualTo(100_001L);
    }
  }
}

package tech.bsdb.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildListener;
import tech.bsdb.BuildMain;
import tech.bsdb.BuildOptions;
import tech.bsdb.BuildReport;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Fork;
import tech.bsdb.Leaks;
import tech.bsdb.Rounds;
import tech.bsdb.Truth;
import tech.bsdb.WatchedFiles;

/** Builds of one target at the same time: what is there in the end is one of them, whole. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverlappingBuildsTest {
  private static final BuildOptions OVERWRITE =
      BuildOptions.defaults().withOverwrite(true).withDataFiles(4).withThreads(1);

  @TempDir Path directory;

  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  private Path target() {
    return directory.resolve("db");
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    threads.shutdown();
    Leaks.assertNone(directory);
  }

  private static Truth truth(String value) {
    return new Truth().add("key", value).add("of " + value, value);
  }

  /** The value of the build that is at the target, all of whose files are there and no others. */
  private String whole() throws IOException {
    Database.verify(target(), (done, total) -> {});
    assertThat(Leaks.tree(target())).hasSize(6).allMatch(name -> name.endsWith(".bsdb"));
    assertThat(Leaks.tree(directory)).hasSize(7);
    try (Database database = Database.open(target())) {
      byte[] value = database.get(Truth.utf8("key"));
      assertThat(value).isNotNull();
      String text = new String(value, UTF_8);
      truth(text).checkGets(database);
      return text;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pairsOfThreads(boolean fresh) throws Exception {
    for (int i = 0; i < Rounds.of(15); i++) {
      if (fresh) {
        clear();
      }
      CyclicBarrier start = new CyclicBarrier(2);
      String one = "one " + i;
      String other = "other " + i;
      Future<BuildReport> first = threads.submit(build(start, one));
      Future<BuildReport> second = threads.submit(build(start, other));
      assertThat(first.get().warnings()).isEmpty();
      assertThat(second.get().warnings()).isEmpty();
      assertThat(whole()).isIn(one, other);
    }
  }

  private Callable<BuildReport> build(CyclicBarrier start, String value) {
    return () -> {
      try (DatabaseBuilder builder = DatabaseBuilder.create(target(), OVERWRITE)) {
        for (Truth.Entry record : truth(value).records()) {
          builder.add(record.key(), record.value());
        }
        start.await();
        return builder.finish();
      }
    };
  }

  private void clear() throws IOException {
    List<String> names = new ArrayList<>(Leaks.tree(directory));
    Collections.reverse(names);
    for (String name : names) {
      Files.delete(directory.resolve(name));
    }
  }

  @Test
  void pairsOfThreadsThatMayNotOverwrite() throws Exception {
    for (int i = 0; i < Rounds.of(5); i++) {
      clear();
      CyclicBarrier start = new CyclicBarrier(2);
      BuildOptions options = OVERWRITE.withOverwrite(false);
      List<Future<BuildReport>> builds = new ArrayList<>();
      for (String value : List.of("one", "other")) {
        builds.add(
            threads.submit(
                () -> {
                  try (DatabaseBuilder builder = DatabaseBuilder.create(target(), options)) {
                    for (Truth.Entry record : truth(value).records()) {
                      builder.add(record.key(), record.value());
                    }
                    start.await();
                    return builder.finish();
                  }
                }));
      }
      int refused = 0;
      for (Future<BuildReport> build : builds) {
        try {
          build.get();
        } catch (ExecutionException e) {
          assertThat(e.getCause())
              .isInstanceOf(FileAlreadyExistsException.class)
              .hasMessageContaining("was created during the build");
          refused++;
        }
      }
      assertThat(refused).isOne();
      assertThat(whole()).isIn("one", "other");
    }
  }

  @Test
  void twoProcesses() throws Exception {
    truth("old").build(target(), OVERWRITE);
    int builds = Rounds.of(6);
    Process[] processes = new Process[2];
    for (int i = 0; i < 2; i++) {
      processes[i] =
          Fork.start(
              BuildMain.class,
              target().toString(),
              "blocked",
              "50",
              String.valueOf(1000 * i),
              String.valueOf(builds));
    }
    for (Process process : processes) {
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).isZero();
      assertThat(output.lines()).hasSize(builds).noneMatch(line -> line.startsWith("failed"));
    }
    Database.verify(target(), (done, total) -> {});
    assertThat(Leaks.tree(directory)).hasSize(7);
  }

  /** A build that stops when it has moved one of its data files into the target. */
  private final class Paused {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final Future<BuildReport> build;

    Paused(String value) throws InterruptedException {
      AtomicInteger moves = new AtomicInteger();
      Path watched =
          WatchedFiles.watch(
              target(),
              change -> {
                boolean data =
                    change instanceof WatchedFiles.Move move
                        && move.to().getParent().equals(target())
                        && move.to().getFileName().toString().startsWith("data-");
                if (data && moves.incrementAndGet() == 2) {
                  stopped.countDown();
                  try {
                    goOn.await();
                  } catch (InterruptedException e) {
                    throw new IOException(e);
                  }
                }
              });
      build = threads.submit(() -> truth(value).build(watched, OVERWRITE));
      stopped.await();
    }
  }

  @Test
  void aBuildThatIsPausedWhileItMovesItsFilesIsWaitedFor() throws Exception {
    truth("old").build(target(), OVERWRITE);
    Paused paused = new Paused("paused");
    CountDownLatch publishing = new CountDownLatch(1);
    Future<BuildReport> second =
        threads.submit(
            () -> {
              try (DatabaseBuilder builder =
                  DatabaseBuilder.create(
                      target(),
                      OVERWRITE,
                      (stage, done, total) -> {
                        if (stage == BuildListener.Stage.PUBLISH) {
                          publishing.countDown();
                        }
                      })) {
                for (Truth.Entry record : truth("second").records()) {
                  builder.add(record.key(), record.value());
                }
                return builder.finish();
              }
            });
    publishing.await();
    assertThatThrownBy(() -> second.get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    truth("old").check(target());
    paused.goOn.countDown();
    assertThat(paused.build.get().warnings()).isEmpty();
    assertThat(second.get().warnings()).isEmpty();
    assertThat(whole()).isEqualTo("second");
  }

  @Test
  void theNameIsHeldUntilNothingIsInTheDirectory() throws Exception {
    truth("old").build(target(), OVERWRITE);
    Path turn = target().resolve(WorkDirectory.REPLACING);
    List<String> deleted = new ArrayList<>();
    Path watched =
        WatchedFiles.watch(
            target(),
            change -> {
              if (change instanceof WatchedFiles.Delete delete && delete.path().startsWith(turn)) {
                String name = turn.relativize(delete.path()).toString();
                deleted.add(name.isEmpty() ? name : name + " " + isLocked(turn));
              }
            });
    truth("new").build(watched, OVERWRITE);
    assertThat(deleted).containsExactly("names true", "lock true", "");
    assertThat(whole()).isEqualTo("new");
  }

  @Test
  void theNameIsLetGoEarlierIfDescriptorsAreScarce() throws Exception {
    truth("old").build(target(), OVERWRITE);
    Path turn = target().resolve(WorkDirectory.REPLACING);
    Path watched =
        WatchedFiles.watch(
            target(),
            change -> {
              if (change instanceof WatchedFiles.Delete delete
                  && turn.equals(delete.path().getParent())
                  && isLocked(turn)) {
                throw new FileSystemException(turn.toString(), null, "Too many open files");
              }
            });
    assertThat(truth("new").build(watched, OVERWRITE).warnings()).isEmpty();
    assertThat(whole()).isEqualTo("new");
  }

  /** Whether a channel of this virtual machine holds the lock of a build's directory. */
  private static boolean isLocked(Path work) throws IOException {
    try (FileChannel channel =
        FileChannel.open(work.resolve(WorkDirectory.LOCK), StandardOpenOption.WRITE)) {
      return channel.tryLock() == null;
    } catch (OverlappingFileLockException e) {
      return true;
    }
  }

  @Test
  void whoWaitsTooLongIsRefusedAndLeavesNothing() throws Exception {
    truth("old").build(target(), OVERWRITE);
    Paused paused = new Paused("paused");
    List<String> before = Leaks.tree(directory);
    try (Workspace second = Workspace.create(target(), true, null)) {
      assertThatThrownBy(() -> second.publish(() -> {}, Duration.ofMillis(100)))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              target().toString(), "another build has been replacing this database", "build again");
    }
    assertThat(Leaks.tree(directory)).isEqualTo(before);
    paused.goOn.countDown();
    paused.build.get();
    assertThat(whole()).isEqualTo("paused");
  }

  @Test
  void whoWaitsCanBeCancelledAndInterrupted() throws Exception {
    truth("old").build(target(), OVERWRITE);
    Paused paused = new Paused("paused");
    try (Workspace second = Workspace.create(target(), true, null)) {
      assertThatThrownBy(
              () ->
                  second.publish(
                      () -> {
                        throw new CancellationException();
                      }))
          .isInstanceOf(CancellationException.class);
      assertThatThrownBy(() -> second.publish(() -> Thread.currentThread().interrupt()))
          .isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
    paused.goOn.countDown();
    paused.build.get();
    assertThat(whole()).isEqualTo("paused");
  }
}

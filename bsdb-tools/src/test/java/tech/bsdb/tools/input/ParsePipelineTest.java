package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ParsePipelineTest {
  /** Chunks that wait in a pipeline of 10, and one for each of its 3 threads. */
  private static final int UNDER_WAY = 13;

  private static final RecordVisitor NOTHING = (key, kf, kl, value, vf, vl) -> {};

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void writeFile() throws IOException {
    file = Readings.file(directory, "in", "key value\n".repeat(10_000));
  }

  @AfterEach
  void noWorkerIsLeft() {
    assertThat(workers()).isZero();
  }

  @Test
  void whatTheVisitorThrowsEndsTheReading() throws IOException {
    for (Throwable thrown :
        new Throwable[] {
          new IOException("full"), new IllegalStateException("broken"), new StackOverflowError()
        }) {
      for (int record : new int[] {0, 1, 5000, 9999}) {
        AtomicInteger seen = new AtomicInteger();
        try (Input input = Input.open(Readings.of(file).withThreads(4), 100, 1 << 20)) {
          assertThatThrownBy(
                  () ->
                      input.forEach(
                          (key, kf, kl, value, vf, vl) -> {
                            if (seen.getAndIncrement() == record) {
                              sneakyThrow(thrown);
                            }
                          },
                          InputListener.NONE))
              .isSameAs(thrown);
        }
        assertThat(seen).hasValue(record + 1);
        assertThat(workers()).isZero();
      }
    }
  }

  @Test
  void whatAWorkerThrowsReachesTheCallerInOrder() throws IOException {
    for (int bad : new int[] {0, 1, 777, 9_999}) {
      AtomicInteger handedOn = new AtomicInteger();
      RuntimeException broken = new IllegalStateException("broken");
      InputOptions options = Readings.of(file);
      RecordSyntax syntax = new RecordSyntax(options);
      List<InputFile> files = InputFile.find(options.inputs(), new ArrayList<>());
      ChunkSource source = new ChunkSource(files, UTF_8, syntax, 10, 100);
      AtomicInteger parsed = new AtomicInteger();
      ParsePipeline pipeline =
          new ParsePipeline(
              source,
              syntax::newParser,
              () ->
                  new Batch() {
                    @Override
                    public void visit(byte[] key, int kf, int kl, byte[] value, int vf, int vl) {
                      if (parsed.getAndIncrement() == bad) {
                        throw broken;
                      }
                    }

                    @Override
                    public void handOn() {
                      handedOn.incrementAndGet();
                    }
                  },
              options.withThreads(3),
              10);
      assertThatThrownBy(() -> pipeline.run((number, chunk) -> chunk.records().handOn()))
          .isSameAs(broken);
      // Chunks are parsed in any order, but not further apart than those that are under way.
      assertThat(handedOn.get()).isBetween(Math.max(0, bad - UNDER_WAY), bad + UNDER_WAY);
    }
  }

  @Test
  void aFailureToMakeAParserOrABatchReachesTheCaller() throws IOException {
    RuntimeException broken = new IllegalStateException("broken");
    InputOptions options = Readings.of(file);
    RecordSyntax lines = new RecordSyntax(options);
    List<InputFile> files = InputFile.find(options.inputs(), new ArrayList<>());
    ParsePipeline noParser =
        new ParsePipeline(
            new ChunkSource(files, UTF_8, lines, 10, 100),
            () -> {
              throw broken;
            },
            () -> Batch.copying(NOTHING),
            options,
            10);
    assertThatThrownBy(() -> noParser.run((number, chunk) -> {})).isSameAs(broken);
    ParsePipeline noBatch =
        new ParsePipeline(
            new ChunkSource(files, UTF_8, lines, 10, 100),
            lines::newParser,
            () -> {
              throw broken;
            },
            options,
            10);
    assertThatThrownBy(() -> noBatch.run((number, chunk) -> {})).isSameAs(broken);
  }

  @Test
  void damageBehindABadLineIsWhatIsReported() throws IOException {
    byte[] text =
        ("key value\n".repeat(3000) + "bad\n" + "key value\n".repeat(3000)).getBytes(UTF_8);
    byte[] gzip = GzipMembersTest.gzip(text);
    Path damaged = Readings.file(directory, "in.gz", Arrays.copyOf(gzip, gzip.length - 4));
    for (int round = 0; round < 50; round++) {
      Readings read = Readings.read(Readings.of(damaged).withThreads(4), 64);
      assertThat(read.message()).startsWith(damaged + ": truncated: the gzip data ends");
    }
  }

  @Test
  void closingEndsAReadingInAnotherThread() throws Exception {
    Input input = Input.open(Readings.of(file), 10, 100);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                input.forEach(
                    (key, kf, kl, value, vf, vl) -> {
                      reading.countDown();
                      awaitQuietly(closed);
                    },
                    InputListener.NONE);
              } catch (Throwable failure) {
                thrown.set(failure);
              }
            });
    reader.start();
    reading.await();
    input.close();
    closed.countDown();
    reader.join();
    assertThat(thrown.get()).isInstanceOf(InputException.class).hasMessageContaining("stopped");
    input.close();
  }

  @Test
  void aClosedInputIsNotRead() throws IOException {
    Input input = Input.open(Readings.of(file));
    input.close();
    assertThatThrownBy(() -> input.forEach(NOTHING, InputListener.NONE))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anInterruptOfTheCallerEndsTheReadingAndStays() throws IOException {
    try (Input input = Input.open(Readings.of(file), 10, 100)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> input.forEach(NOTHING, InputListener.NONE))
          .isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aPipeIsReadAndDoesNotHoldUpAFailure() throws Exception {
    Path pipe = directory.resolve("pipe");
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
    assumeTrue(made.waitFor() == 0);
    CountDownLatch failed = new CountDownLatch(1);
    Thread writer =
        new Thread(
            () -> {
              try (OutputStream out = Files.newOutputStream(pipe)) {
                out.write("key value\n".repeat(1000).getBytes(UTF_8));
                out.flush();
                awaitQuietly(failed); // and nothing more comes for long
              } catch (IOException brokenPipe) {
                // the reader may have gone
              }
            });
    writer.start();
    try (Input input = Input.open(Readings.of(pipe).withThreads(3), 100, 1000)) {
      assertThat(input.totalBytes()).isEqualTo(-1);
      assertThatThrownBy(
              () ->
                  input.forEach(
                      (key, kf, kl, value, vf, vl) -> {
                        throw new IOException("full");
                      },
                      InputListener.NONE))
          .hasMessage("full");
    }
    failed.countDown();
    writer.join();
    while (workers() > 0) {
      Thread.sleep(10); // the one that waited for the pipe
    }
  }

  private static long workers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("bsdb-input-"))
        .count();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneakyThrow(Throwable thrown) throws T {
    throw (T) thrown;
  }
}

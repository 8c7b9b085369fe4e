package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.remote.ChangedException;

/** Ranges of the files of an object store. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HadoopRangesTest {
  private static final int SIZE = 1 << 20;
  private static final String FILE = "shard/data.bsdb";

  private final byte[] content = new byte[SIZE];
  private RangeDirectory directory;

  @BeforeEach
  void open() throws IOException {
    FaultyStore.reset();
    new Random(1).nextBytes(content);
    FaultyStore.FILES.put("/users/" + FILE, content);
    directory = RangeDirectory.open("faulty://store/users", FaultyStore.options());
  }

  @AfterEach
  void close() throws IOException {
    FaultyStore.reset();
    directory.close();
  }

  private byte[] bytes(long from, int length) {
    return Arrays.copyOfRange(content, (int) from, (int) from + length);
  }

  private static byte[] get(CompletableFuture<byte[]> read) throws Exception {
    try {
      return read.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  @Test
  void readsTheseBytesAndNothingElse() throws Exception {
    for (long from : new long[] {0, 1, 4096, SIZE - 1}) {
      int length = (int) Math.min(5000, SIZE - from);
      assertThat(get(directory.read(FILE, SIZE, from, length))).isEqualTo(bytes(from, length));
    }
    assertThat(FaultyStore.steps("status")).as("requests for a length").isZero();
    assertThat(FaultyStore.steps("open")).as("one after the other on one stream").isEqualTo(1);
    assertThat(FaultyStore.steps("read")).isEqualTo(4);
  }

  @Test
  void manyReadsRunAtOnce() throws Exception {
    List<CompletableFuture<byte[]>> reads = new ArrayList<>();
    CountDownLatch go = FaultyStore.hold();
    for (int i = 0; i < 1000; i++) {
      reads.add(directory.read(FILE, SIZE, i * 1000L, 500 + i));
    }
    FaultyStore.awaitHeld(100);
    go.countDown();
    for (int i = 0; i < reads.size(); i++) {
      assertThat(get(reads.get(i))).isEqualTo(bytes(i * 1000L, 500 + i));
    }
    assertThat(FaultyStore.steps("open")).isBetween(100, 128);
    directory.close();
    assertThat(FaultyStore.OPEN).hasValue(0);
  }

  @Test
  void aReadThatFailsClosesItsStreamAndTheNextOneWorks() throws Exception {
    for (int step = 1; step <= 2; step++) {
      int failing = step;
      FaultyStore.fail(now -> now == failing);
      CompletableFuture<byte[]> read = directory.read(FILE, SIZE, 10, 20);
      assertThatThrownBy(() -> get(read))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("connection reset");
      assertThat(FaultyStore.OPEN).hasValue(0);
      assertThat(get(directory.read(FILE, SIZE, 10, 20))).isEqualTo(bytes(10, 20));
      FaultyStore.repair();
      close();
      open();
    }
  }

  @Test
  void aMissingFileIsNamed() {
    CompletableFuture<byte[]> read = directory.read("none", SIZE, 0, 20);
    assertThatThrownBy(() -> get(read))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("faulty://store/users/none");
  }

  @Test
  void aFileThatVanishesIsMissingAlsoOnStreamsThatWereOpen() throws Exception {
    assertThat(get(directory.read(FILE, SIZE, 10, 20))).isEqualTo(bytes(10, 20));
    FaultyStore.FILES.clear();
    assertThatThrownBy(() -> get(directory.read(FILE, SIZE, 10, 20)))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aFileThatWasCutShortHasChanged() throws Exception {
    FaultyStore.FILES.put("/users/" + FILE, Arrays.copyOf(content, 8192));
    assertThat(get(directory.read(FILE, SIZE, 0, 8192))).isEqualTo(bytes(0, 8192));
    for (long from : new long[] {8191, 8192, 16_384}) {
      assertThatThrownBy(() -> get(directory.read(FILE, SIZE, from, 4096)))
          .isInstanceOf(ChangedException.class)
          .hasMessage(
              "faulty://store/users/shard/data.bsdb was cut short: it has 8,192 of 1,048,576 bytes"
                  + " while the database was open; open it again");
    }
  }

  @Test
  void anAnswerThatEndsEarlyIsNoChange() throws Exception {
    FaultyStore.cutAnswers();
    assertThatThrownBy(() -> get(directory.read(FILE, SIZE, 0, 4096)))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(ChangedException.class)
        .hasMessage("faulty://store/users/shard/data.bsdb: the answer ended early");
    FaultyStore.repair();
    assertThat(get(directory.read(FILE, SIZE, 0, 4096))).isEqualTo(bytes(0, 4096));
  }

  @Test
  void aReadThatIsGivenUpEndsAndItsStreamIsClosed() throws Exception {
    CountDownLatch go = FaultyStore.hold();
    CompletableFuture<byte[]> read = directory.read(FILE, SIZE, 0, 4096);
    FaultyStore.awaitHeld(1);
    assertThat(read.cancel(true)).isTrue();
    assertThatThrownBy(read::join).isInstanceOf(CancellationException.class);
    FaultyStore.awaitHeld(0);
    FaultyStore.awaitOpen(0);
    go.countDown();
    assertThat(get(directory.read(FILE, SIZE, 0, 4096))).isEqualTo(bytes(0, 4096));
  }

  @Test
  void closingEndsReadsInProgressAndThoseThatWait() throws Exception {
    FaultyStore.hold();
    List<CompletableFuture<byte[]>> reads = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      reads.add(directory.read(FILE, SIZE, 0, 4096));
    }
    FaultyStore.awaitHeld(100);
    directory.close();
    for (CompletableFuture<byte[]> read : reads) {
      assertThatThrownBy(() -> get(read))
          .isInstanceOf(IOException.class)
          .hasMessage("the directory is closed");
    }
    assertThatThrownBy(() -> get(directory.read(FILE, SIZE, 0, 4096)))
        .hasMessage("the directory is closed");
    FaultyStore.awaitOpen(0);
  }

  @Test
  void filesOnS3NeedNoLength() throws Exception {
    Map<String, String> settings = Map.of("fs.s3a.impl", FaultyStore.class.getName());
    try (RangeDirectory s3 =
        RangeDirectory.open(
            "s3a://bucket/users", new FileSourceOptions(null, null, settings, null, null))) {
      for (int length : new int[] {0, 1, 65_535, 65_536, 65_537, 300_000}) {
        FaultyStore.FILES.put("/users/small", Arrays.copyOf(content, length));
        FaultyStore.repair();
        try (InputStream in = s3.open("small", 0)) {
          assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOf(content, length));
        }
        assertThat(FaultyStore.steps("status")).isZero();
      }
    }
  }

  @Test
  void theSchemesOfHadoopAreRead() throws Exception {
    HadoopOrigins origins = new HadoopOrigins();
    assertThat(origins.open(URI.create("https://host/rdb"))).isNull();
    assertThat(origins.open(URI.create("file:///rdb"))).isNull();
    assertThat(origins.open(URI.create("nowhere://bucket/rdb"))).isNull();
    assertThatThrownBy(() -> origins.open(URI.create("s3a://bucket/rdb")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fetch-s3");
  }
}

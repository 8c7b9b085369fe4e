package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;

/**
 * Compressed bins whose bytes were damaged before their checksums were computed: lookups and scans
 * end, fail only by naming file and offset, and allocate no more than a block can have.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DamagedBlocksTest {
  private static final OpenOptions TRUSTING = OpenOptions.defaults().withVerify(false);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("DamagedBlocksTest");

  private Truth truth(int count) {
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      byte[] value = Truth.bytes(random, i % 50 == 0 ? 70_000 : random.nextInt(300));
      if (i % 3 != 0) { // a third is stored
        Arrays.fill(value, random.nextInt(1 + value.length / 8), value.length, (byte) i);
      }
      truth.add(Truth.utf8("key " + i), value);
    }
    return truth;
  }

  private Path build(Truth truth) throws IOException {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(Layout.PACKED_COMPRESSED));
    return target;
  }

  private static Path data(Path target) throws IOException {
    return Golden.files(target).stream()
        .filter(file -> file.getFileName().toString().startsWith("data-"))
        .findAny()
        .orElseThrow();
  }

  /** Asks for everything; whatever fails names the file. */
  private static int failures(Path target, Truth truth, OpenOptions.Engine engine)
      throws IOException {
    int failures = 0;
    Path file = data(target);
    try (Database database = Database.open(target, TRUSTING.withEngine(engine))) {
      for (Truth.Entry record : truth.records()) {
        try {
          database.get(record.key());
        } catch (CorruptDatabaseException e) {
          assertThat(e.file()).isEqualTo(file);
          failures++;
        }
      }
      try {
        database.getAll(List.of(truth.records().get(0).key(), truth.records().get(1).key()));
      } catch (CorruptDatabaseException e) {
        assertThat(e.file()).isEqualTo(file);
      }
      try (Database.RecordCursor cursor = database.scan()) {
        while (cursor.next()) {
          assertThat(cursor.key()).isNotNull();
        }
      } catch (CorruptDatabaseException e) {
        assertThat(e.file()).isEqualTo(file);
        failures++;
      }
    }
    return failures;
  }

  @Test
  void anyBytes() throws Exception {
    Truth truth = truth(400);
    Path target = build(truth);
    Path file = data(target);
    byte[] intact = Files.readAllBytes(file);
    for (int round = 0; round < 150; round++) {
      byte[] damaged = intact.clone();
      int pages = intact.length / Page.SIZE - 2;
      for (int i = random.nextInt(6); i >= 0; i--) {
        int page = (1 + random.nextInt(pages)) * Page.SIZE;
        switch (round % 4) {
          case 0 -> damaged[page + random.nextInt(40)] = (byte) random.nextInt();
          case 1 -> damaged[page + random.nextInt(Page.SIZE)] ^= (byte) (1 << random.nextInt(8));
          case 2 -> Arrays.fill(damaged, page, page + Page.SIZE, (byte) 0);
          default -> System.arraycopy(Truth.bytes(random, Page.SIZE), 0, damaged, page, Page.SIZE);
        }
      }
      Files.write(file, damaged);
      for (OpenOptions.Engine engine :
          new OpenOptions.Engine[] {OpenOptions.Engine.MAPPED, OpenOptions.Engine.BUFFERED}) {
        failures(target, truth, engine);
      }
    }
    Files.write(file, intact);
    assertThat(failures(target, truth, OpenOptions.Engine.MAPPED)).isZero();
  }

  /** The header of the first block of a bin is replaced by each of these. */
  @Test
  void headersOfBlocks() throws Exception {
    Truth truth = truth(60);
    Path target = build(truth);
    Path file = data(target);
    byte[] intact = Files.readAllBytes(file);
    byte[][] headers = {
      {0, 0, 0},
      {1, 0, 0},
      {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1},
      {-2, -1, -1, -1, 15, 5},
      {-2, -1, -1, -1, 15, -1, -1, -1, -1, 7},
      {-1, -1, -1, -1, 15},
      {-1, -1, -1, -1, -1, 15},
      {2, 0},
      {2, 1},
      {-128, 8, 3},
      {-128, 8, -1, 127},
    };
    int pages = intact.length / Page.SIZE - 2;
    for (byte[] header : headers) {
      byte[] damaged = intact.clone();
      ByteBuffer buffer = ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN);
      for (int page = 1; page <= pages; page++) {
        int base = page * Page.SIZE;
        int bins = PackedPage.bins(buffer.getShort(base));
        for (int bin = 0; bin < bins; bin++) {
          int at = buffer.getShort(base + PackedPage.entry(bin)) & 0xFFFF;
          int end = buffer.getShort(base + PackedPage.entry(bin + 1)) & 0xFFFF;
          System.arraycopy(header, 0, damaged, base + at, Math.min(header.length, end - at));
        }
      }
      Files.write(file, damaged);
      com.sun.management.ThreadMXBean threads =
          (com.sun.management.ThreadMXBean)
              java.lang.management.ManagementFactory.getThreadMXBean();
      long before = threads.getCurrentThreadAllocatedBytes();
      int failures = failures(target, truth, OpenOptions.Engine.MAPPED);
      assertThat(failures).as(Arrays.toString(header)).isGreaterThan(truth.records().size() / 2);
      assertThat(threads.getCurrentThreadAllocatedBytes() - before)
          .as("bytes allocated with " + Arrays.toString(header))
          .isLessThan(100 << 20);
    }
  }
}

package tech.bsdb.io;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageFileTest {
  private static final int PAGE = PageSource.PAGE;
  private static final long FILE = identity(1, 2, 3);

  @TempDir Path folder;
  private Path path;
  private final List<String> warnings = new ArrayList<>();

  @BeforeEach
  void name() {
    path = folder.resolve("pages");
  }

  private PageFile open(long bytes) throws IOException {
    return PageFile.open(path, bytes, warnings::add);
  }

  private static long identity(int first, int last, int file) {
    byte[] id = new byte[16];
    id[0] = (byte) first;
    id[15] = (byte) last;
    return PageFile.identity(id, file);
  }

  /** A page that ends with its checksum, as those of databases do. */
  private static byte[] page(long identity, long number) {
    ByteBuffer page = ByteBuffer.allocate(PAGE).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(identity * 31 + number);
    random.nextBytes(page.array());
    page.putInt(PAGE - 4, checksum(page.array()));
    return page.array();
  }

  private static int checksum(byte[] page) {
    CRC32C crc = new CRC32C();
    crc.update(page, 0, PAGE - 4);
    return (int) crc.getValue();
  }

  private static boolean isPresent(PageFile file, long identity, long number) {
    byte[] found = new byte[PAGE + 16];
    boolean present = file.read(identity, number, found, 8);
    if (present) {
      assertThat(ByteBuffer.wrap(found, 8, PAGE))
          .isEqualTo(ByteBuffer.wrap(page(identity, number)));
    }
    return present;
  }

  /** Whether a page is there and passes the check that every reader makes. */
  private static boolean isSound(PageFile file, long number, byte[] found) {
    return file.read(FILE, number, found, 0)
        && ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN).getInt(PAGE - 4)
            == checksum(found);
  }

  private static long present(PageFile file, long identity, long pages) {
    long present = 0;
    for (long page = 0; page < pages; page++) {
      present += isPresent(file, identity, page) ? 1 : 0;
    }
    return present;
  }

  /** Opens the file, writes pages 0 to {@code pages}, and closes it. */
  private void fill(long bytes, long identity, long pages) throws IOException {
    try (PageFile file = open(bytes)) {
      for (long page = 0; page < pages; page++) {
        file.put(identity, page, page(identity, page), 0, Integer.MAX_VALUE);
      }
    }
  }

  @Test
  void pagesSurviveAndBelongToOneFileOfOneDatabase() throws IOException {
    try (PageFile file = open(16 << 20)) {
      for (long page = 0; page < 500; page++) {
        file.write(FILE, page, page(FILE, page), 0);
      }
    }

    try (PageFile file = open(16 << 20)) {
      assertThat(present(file, FILE, 500)).isEqualTo(500);
      assertThat(isPresent(file, FILE, 500)).isFalse();
      assertThat(present(file, identity(1, 2, 4), 500)).isZero();
      assertThat(present(file, identity(1, 3, 3), 500)).isZero();
      assertThat(present(file, identity(2, 2, 3), 500)).isZero();
    }
    assertThat(warnings).isEmpty();
  }

  @Test
  void theFileNeverOutgrowsItsSizeAndKeepsItFull() throws IOException {
    fill(PageFile.LEAST, FILE, 3000);

    assertThat(Files.size(path)).isLessThanOrEqualTo(PageFile.LEAST);
    try (PageFile file = open(PageFile.LEAST)) {
      assertThat(present(file, FILE, 3000)).isBetween(200L, 256L);
    }
  }

  /** Mapped memory without room on the disk would fail when the disk is full. */
  @Test
  void theEntriesHaveTheirRoomFromTheBeginning() throws Exception {
    assumeTrue(
        Set.of("ext4", "xfs", "tmpfs", "overlay").contains(Files.getFileStore(folder).type()));
    open(256 << 20).close();
    Process stat = new ProcessBuilder("stat", "-c", "%b", path.toString()).start();
    String blocks = new String(stat.getInputStream().readAllBytes(), US_ASCII).strip();
    assertThat(512 * Long.parseLong(blocks)).isBetween(256L << 12, 1L << 22);
  }

  @Test
  void nothingIsMadeOfASizeThatMakesNoSense() {
    assertThatThrownBy(() -> open(PageFile.LEAST - 1)).hasMessage("bytes is 1048575");
    assertThatThrownBy(() -> open(PageFile.MOST + 1)).hasMessageContaining("bytes is");
    assertThat(path).doesNotExist();
  }

  @Test
  void anotherSizeReplacesTheFileAndOthersReadOnInTheirs() throws IOException {
    fill(PageFile.LEAST, FILE, 10);

    try (PageFile before = open(PageFile.LEAST);
        PageFile after = open(2 * PageFile.LEAST)) {
      assertThat(present(after, FILE, 10)).isZero();
      assertThat(present(before, FILE, 10)).isEqualTo(10);
    }
  }

  @Test
  void aFileThatIsNotOursOrCutShortIsReplaced() throws IOException {
    Files.writeString(path, "something else");
    fill(PageFile.LEAST, FILE, 10);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(500_000);
    }

    try (PageFile file = open(PageFile.LEAST)) {
      assertThat(present(file, FILE, 10)).isZero();
    }
  }

  @Test
  void twoThatAreOpenShareTheirPages() throws IOException {
    try (PageFile one = open(PageFile.LEAST)) {
      fill(PageFile.LEAST, FILE, 10);

      assertThat(present(one, FILE, 10)).isEqualTo(10);
    }
  }

  /** What a page of another database in the slot, a torn write or a hole would be. */
  @Test
  void aPageThatIsNotThatOfItsEntryIsAbsent() throws IOException {
    fill(PageFile.LEAST, FILE, 100);
    byte[] all = Files.readAllBytes(path);
    int pages = (all.length - PAGE) / (PAGE + 16) / 8 * 8;
    int from = all.length - pages * PAGE;
    byte[] other = page(~FILE, 7); // sound, but not what the entry says
    for (int slot = 0; slot < pages; slot++) {
      System.arraycopy(slot % 2 == 0 ? other : new byte[PAGE], 0, all, from + slot * PAGE, PAGE);
    }
    Files.write(path, all);

    try (PageFile file = open(PageFile.LEAST)) {
      assertThat(present(file, FILE, 100)).isZero();
    }
  }

  /** Of two writers, one wrote the page and what is bound to it, and the other one the hash. */
  @Test
  void aPageAndAHashOfTwoWritersAreNotTakenForOne() throws IOException {
    byte[] other = page(~FILE, 7);
    int checksum = ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN).getInt(PAGE - 4);
    for (int bound : new int[] {checksum ^ (int) PageFile.hash(~FILE, 7), checksum}) {
      Files.deleteIfExists(path);
      fill(PageFile.LEAST, FILE, 100);
      ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
      int pages = (all.limit() - PAGE) / (PAGE + 16) / 8 * 8;
      int from = all.limit() - pages * PAGE;
      for (int slot = 0; slot < pages; slot++) {
        all.putInt(PAGE + slot * 16 + 8, bound).put(from + slot * PAGE, other);
      }
      Files.write(path, all.array());

      try (PageFile file = open(PageFile.LEAST)) {
        for (long number = 0; number < 100; number++) {
          assertThat(file.read(FILE, number, new byte[PAGE], 0)).isFalse();
        }
      }
    }
  }

  /** The reader verifies what {@code read} returns; so a flipped bit must never pass both. */
  @Test
  void flippedBitsAreSeenByTheEntryOrTheChecksum() throws IOException {
    fill(PageFile.LEAST, FILE, 200);
    byte[] sound = Files.readAllBytes(path);
    Random random = new Random(5);
    for (int round = 0; round < 30; round++) {
      byte[] damaged = sound.clone();
      for (int i = 0; i < 500; i++) {
        damaged[PAGE + random.nextInt(damaged.length - PAGE)] ^= (byte) (1 << random.nextInt(8));
      }
      Files.write(path, damaged);
      try (PageFile file = open(PageFile.LEAST)) {
        for (long number = 0; number < 200; number++) {
          byte[] found = new byte[PAGE];
          if (isSound(file, number, found)) {
            assertThat(found).isEqualTo(page(FILE, number));
          }
        }
      }
    }
  }

  @Test
  void threadsWriteAndReadTheSameSlots() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    try (PageFile one = open(PageFile.LEAST);
        PageFile two = open(PageFile.LEAST)) {
      for (int i = 0; i < 4; i++) {
        Random random = new Random(i);
        PageFile file = i % 2 == 0 ? one : two;
        Thread thread =
            new Thread(
                () -> {
                  byte[] found = new byte[PAGE];
                  for (int round = 0; round < 3000; round++) {
                    long number = random.nextInt(600);
                    if (isSound(file, number, found)) {
                      assertThat(found).isEqualTo(page(FILE, number));
                    } else {
                      file.write(FILE, number, page(FILE, number), 0);
                    }
                  }
                });
        thread.setUncaughtExceptionHandler(
            (failed, failure) -> {
              synchronized (failures) {
                failures.add(failure);
              }
            });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(failures).isEmpty();
  }
}

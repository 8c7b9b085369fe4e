package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;

/**
 * What a build or a publication has just written lies in huge pages, where the file system of
 * temporary files makes them: a file that is written here by hand shows that first.
 */
@Tag("jdk")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HugePagesOfFilesTest {
  private static final int HUGE = ChunkBuffer.HUGE_PAGE;

  @TempDir Path directory;

  private final Truth truth = new Truth();

  private void assumeHugePages() throws IOException {
    Path probe = directory.resolve("probe");
    try (FileChannel channel = Recording.create(probe)) {
      for (int i = 0; i < 8; i++) {
        channel.write(ByteBuffer.allocateDirect(HUGE));
      }
    }
    long huge = PageCache.look(probe, 8L * HUGE).hugePageBytes();
    assumeTrue(huge == 8L * HUGE, "no huge pages in the page cache here: " + huge);
  }

  private Path build() throws IOException {
    SplittableRandom random = Seeds.random("HugePagesOfFilesTest");
    Path target = directory.resolve("db");
    BuildOptions options = BuildOptions.defaults().withDataFiles(2).withLayout(Layout.BLOCKED);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < 20_000; i++) {
        byte[] key = Truth.bytes(random, 16);
        byte[] value = Truth.bytes(random, 1000);
        builder.add(key, value);
        truth.add(key, value);
      }
      builder.finish();
    }
    return target;
  }

  /** Two data files of 10 and 12 MB: 5 huge pages each, and a rest. */
  private static void assertHuge(MemoryUse use) {
    assertThat(use.residentBytes()).isEqualTo(use.bytes());
    assertThat(use.hugePageBytes()).isGreaterThanOrEqualTo(9L * HUGE); // memory may lack one
  }

  @Test
  void aBuildAndItsPublishedCopyLieInHugePages() throws Exception {
    assumeHugePages();
    Path target = build();
    assertHuge(Database.memoryUse(target));
    Path store = directory.resolve("store");
    try (Publication publication = Publication.of(target, store, PublishOptions.defaults())) {
      publication.begin();
      publication.copy();
      assertHuge(Database.memoryUse(publication.directory()));
    }
    try (Database database =
        Database.open(target, OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED))) {
      truth.checkGets(database);
      MemoryUse use = database.memoryUse(); // not all is touched: the last page, for example
      assertThat(use.residentBytes()).isBetween(9L * HUGE, use.bytes());
      assertThat(use.hugePageBytes()).isBetween(9L * HUGE, use.residentBytes());
    }
  }

  @Test
  void whatCameInSmallPagesIsInHugeOnesAfterWarming() throws Exception {
    assumeHugePages();
    Path target = build();
    Path copy = Files.createDirectory(directory.resolve("copy"));
    try (Stream<Path> files = Files.list(target)) {
      for (Path file : files.toList()) {
        Files.write(copy.resolve(file.getFileName()), Files.readAllBytes(file)); // by 8 KiB
      }
    }
    MemoryUse before = Database.memoryUse(copy);
    assertThat(before.hugePageBytes()).isLessThan(9L * HUGE);
    AtomicLong read = new AtomicLong();
    MemoryUse after = Database.warm(copy, read::addAndGet);
    assertThat(read).hasValue(after.bytes());
    assertThat(after).isEqualTo(Database.memoryUse(copy));
    assertThat(after.residentBytes()).isEqualTo(after.bytes());
    if (Memory.heedsAdvice()) {
      assertHuge(after);
    }
    try (Database database = Database.open(copy)) {
      truth.checkGets(database);
    }
    assertThat(Database.warm(copy, more -> {})).isEqualTo(after); // again: nothing to do
    Leaks.assertNone(directory);
  }
}

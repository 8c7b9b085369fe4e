package tech.bsdb.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;

/** What is trimmed can be collected. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScratchTest {
  private static final int PAGES = 100;

  @TempDir Path folder;

  @Test
  void aTrimmedCursorKeepsNoPages() throws Exception {
    Path path = folder.resolve("data");
    Files.write(path, new byte[PAGES * Page.SIZE]);
    PageCheck place = new PageCheck(path, new FileIdentity(FileKind.DATA, 0));
    Extent extent = new Extent();
    Scratch scratch = new Scratch();
    try (CheckedPages pages =
        new CheckedPages(new BufferedEngine().open(path, PAGES * (long) Page.SIZE), PAGES, null)) {
      extent.set(pages, 1, PAGES - 2);
      extent.read();
      PageCursor cursor = scratch.cursor(new DataFile(pages, place, 0), extent, 1);
      cursor.seek(Page.SIZE);
      assertThat(cursor.next()).isZero();
    }
    WeakReference<Object> memory = memory(extent.buffer());

    extent.trim(0);
    scratch.trim(0);

    while (memory.get() != null) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(1);
    }
    assertThat(extent.count()).isEqualTo(PAGES - 2); // both are still reachable
    scratch.close();
  }

  /** The array of a buffer, or the buffer itself where reads go to memory outside the heap. */
  @SuppressWarnings("ByteBufferBackingArray") // what matters is which array it is
  private static WeakReference<Object> memory(ByteBuffer buffer) {
    return new WeakReference<>(buffer.hasArray() ? buffer.array() : buffer);
  }
}

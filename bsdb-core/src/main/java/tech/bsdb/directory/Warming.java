package tech.bsdb.directory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import tech.bsdb.MemoryUse;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;

/** Reads a whole database into the page cache and reports how much of it is there. */
public final class Warming {
  private Warming() {}

  /**
   * Reads all files, into huge pages where the machine supports them.
   *
   * @param path the database's directory
   * @param progress receives the number of bytes of each read
   * @return what is in memory afterwards
   * @throws IOException if the files do not fit in memory or cannot be read
   */
  public static MemoryUse run(Path path, LongConsumer progress) throws IOException {
    DataSet opened = DataSet.open(path);
    Memory.require(path, bytes(opened), "be read into the page cache");
    for (DataSet.Located file : opened.files()) {
      PageCache.read(file.path(), file.entry().length(), true, () -> false, progress);
    }
    return look(opened);
  }

  /** Returns the number of bytes that warming reads. */
  public static long bytes(DataSet opened) {
    return opened.files().stream().mapToLong(file -> file.entry().length()).sum();
  }

  /** Returns how much of the files is in the page cache, and how much of that in huge pages. */
  public static MemoryUse look(DataSet opened) throws IOException {
    MemoryUse all = MemoryUse.NONE;
    for (DataSet.Located file : opened.files()) {
      all = all.plus(PageCache.look(file.path(), file.entry().length()));
    }
    return all;
  }
}

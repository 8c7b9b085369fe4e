package tech.bsdb.directory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.HugePages;
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
  public static HugePages.Use run(Path path, LongConsumer progress) throws IOException {
    DatabaseDirectory directory = DatabaseDirectory.open(path);
    long bytes = bytes(directory);
    Memory.require(path, bytes, "be read into the page cache");
    for (FileEntry entry : directory.manifest().files()) {
      PageCache.read(directory.file(entry), entry.length(), true, () -> false, progress);
    }
    return look(directory);
  }

  /** Returns the number of bytes that warming reads. */
  public static long bytes(DatabaseDirectory directory) {
    return directory.manifest().files().stream().mapToLong(FileEntry::length).sum();
  }

  /** Returns how much of a database is in the page cache, and how much of that in huge pages. */
  public static HugePages.Use look(DatabaseDirectory directory) throws IOException {
    HugePages.Use all = HugePages.Use.NONE;
    for (FileEntry entry : directory.manifest().files()) {
      all = all.plus(PageCache.look(directory.file(entry), entry.length()));
    }
    return all;
  }
}

package tech.bsdb.io;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The pages of one file that lies elsewhere that are here: in memory, or on disk. Thread-safe. */
final class PageStock {
  private final PageMemory memory;
  private final int number;
  private final @Nullable PageFile disk;
  private final long identity;

  /**
   * Creates the stock of a file.
   *
   * @param number the number of the file in the memory
   * @param disk the pages on disk, or null if there are none
   * @param identity the file's {@link PageFile#identity}
   */
  PageStock(PageMemory memory, int number, @Nullable PageFile disk, long identity) {
    this.memory = memory;
    this.number = number;
    this.disk = disk;
    this.identity = identity;
  }

  /** The number of the file. */
  int number() {
    return number;
  }

  /** A key of the page among those of all files. */
  long key(long page) {
    return (long) number << 40 | page;
  }

  /** Returns the bytes of a page if it is in memory, or null. */
  byte @Nullable [] inMemory(long page) {
    return memory.get(key(page));
  }

  /** Copies what may be the page from the disk, if there is such; the caller must verify it. */
  boolean fromDisk(long page, byte[] target, int at) {
    return disk != null && disk.read(identity, page, target, at);
  }

  /** Keeps a page that came from the disk and was verified in memory, too. */
  void remember(long page, byte[] bytes, int at) {
    memory.put(key(page), copy(bytes, at));
  }

  /** Keeps a verified page. */
  void keep(long page, byte[] bytes, int at) {
    byte[] copy = copy(bytes, at);
    memory.put(key(page), copy);
    if (disk != null) {
      disk.write(identity, page, copy, 0);
    }
  }

  private static byte[] copy(byte[] bytes, int at) {
    return bytes.length == PageSource.PAGE
        ? bytes
        : Arrays.copyOfRange(bytes, at, at + PageSource.PAGE);
  }
}

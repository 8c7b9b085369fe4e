package tech.bsdb;

/**
 * How a database is opened: an immutable value.
 *
 * @param index how pages of the index come into memory
 * @param data how pages of the data files come into memory
 * @param indexInMemory whether the index is read into memory of its own at opening, outside the
 *     heap; then {@code index} does not count
 * @param verify whether checksums are verified on the way: at every read from the device, else at a
 *     page's first touch
 */
public record OpenOptions(Engine index, Engine data, boolean indexInMemory, boolean verify) {
  /** How pages come into memory. */
  public enum Engine {
    /** Chosen by what is in memory and what the machine offers. */
    AUTO,
    /** Memory-mapped files. */
    MAPPED,
    /** Positional reads through the page cache. */
    BUFFERED,
    /** Reads from the device, past the page cache (O_DIRECT). */
    DIRECT,
    /** The same, with many under way at once by io_uring: Linux, Java 22 and newer. */
    IO_URING,
    /**
     * All files read at opening, and verified then, into memory outside the heap, in huge pages
     * where the machine has them (Linux, Java 22 and newer). It is this process's own: whatever
     * else the machine reads, it stays. Opening takes the time and the memory of the whole
     * database; on Java 17 to 21 {@code -XX:MaxDirectMemorySize} must allow it.
     */
    MEMORY
  }

  /** Engines chosen by what the machine offers, checksums verified. */
  public static OpenOptions defaults() {
    return new OpenOptions(Engine.AUTO, Engine.AUTO, false, true);
  }

  /** These options with another engine for index and data. */
  public OpenOptions withEngine(Engine engine) {
    return new OpenOptions(engine, engine, indexInMemory, verify);
  }

  /** These options with another engine for the index. */
  public OpenOptions withIndexEngine(Engine engine) {
    return new OpenOptions(engine, data, indexInMemory, verify);
  }

  /** These options with another engine for the data files. */
  public OpenOptions withDataEngine(Engine engine) {
    return new OpenOptions(index, engine, indexInMemory, verify);
  }

  /** These options with the index in memory or not. */
  public OpenOptions withIndexInMemory(boolean inMemory) {
    return new OpenOptions(index, data, inMemory, verify);
  }

  /** These options with checksums verified or not. */
  public OpenOptions withVerify(boolean verify) {
    return new OpenOptions(index, data, indexInMemory, verify);
  }
}

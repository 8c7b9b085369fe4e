package tech.bsdb;

import java.security.PublicKey;
import java.util.List;
import java.util.Objects;

/**
 * Options for opening a database. Immutable; the {@code with} methods return modified copies.
 *
 * @param index the engine that reads index pages
 * @param data the engine that reads data file pages
 * @param indexInMemory whether opening loads the index into off-heap memory; if so, {@link #index}
 *     is ignored
 * @param verify whether lookups verify checksums: on every read from the device, otherwise when a
 *     page is first touched
 * @param trusted the public keys of Ed25519 of which one must have signed the database ({@link
 *     KeyFiles}); none to require no signature
 */
public record OpenOptions(
    Engine index, Engine data, boolean indexInMemory, boolean verify, List<PublicKey> trusted) {
  /** How pages are read into memory. */
  public enum Engine {
    /** Chosen from what is in memory and what the machine supports. */
    AUTO,
    /** Memory-mapped files. */
    MAPPED,
    /** Positional reads through the page cache. */
    BUFFERED,
    /** Reads from the device that bypass the page cache (O_DIRECT). */
    DIRECT,
    /**
     * Like {@link #DIRECT}, but through io_uring with many reads in flight; requires Linux and Java
     * 22 or newer.
     */
    IO_URING,
    /**
     * Reads and verifies all files at open, into off-heap memory, in huge pages where available
     * (Linux, Java 22 or newer). The memory belongs to this process, so other reads on the machine
     * cannot evict it. Opening takes time and memory proportional to the whole database; on Java 17
     * to 21 {@code -XX:MaxDirectMemorySize} must allow for it.
     */
    MEMORY
  }

  /** Requires both engines. */
  public OpenOptions {
    Objects.requireNonNull(index, "engine");
    Objects.requireNonNull(data, "engine");
    trusted = List.copyOf(trusted);
  }

  /** The defaults: engines chosen automatically, checksums verified. */
  public static OpenOptions defaults() {
    return new OpenOptions(Engine.AUTO, Engine.AUTO, false, true, List.of());
  }

  /** These options with one engine for index and data. */
  public OpenOptions withEngine(Engine engine) {
    return new OpenOptions(engine, engine, indexInMemory, verify, trusted);
  }

  /** These options with another {@link #index}. */
  public OpenOptions withIndexEngine(Engine engine) {
    return new OpenOptions(engine, data, indexInMemory, verify, trusted);
  }

  /** These options with another {@link #data}. */
  public OpenOptions withDataEngine(Engine engine) {
    return new OpenOptions(index, engine, indexInMemory, verify, trusted);
  }

  /** These options with another {@link #indexInMemory}. */
  public OpenOptions withIndexInMemory(boolean inMemory) {
    return new OpenOptions(index, data, inMemory, verify, trusted);
  }

  /** These options with another {@link #verify}. */
  public OpenOptions withVerify(boolean verify) {
    return new OpenOptions(index, data, indexInMemory, verify, trusted);
  }

  /** These options with other {@link #trusted} keys. */
  public OpenOptions withTrusted(List<PublicKey> trusted) {
    return new OpenOptions(index, data, indexInMemory, verify, trusted);
  }
}

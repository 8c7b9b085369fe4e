package tech.bsdb;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Options for opening a database. Immutable; the {@code with} methods return modified copies. */
public final class OpenOptions {
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

  private static final OpenOptions DEFAULTS =
      new OpenOptions(new Choice(Engine.AUTO, Engine.AUTO, false, true));

  /** The options, compared by value. */
  private record Choice(Engine index, Engine data, boolean indexInMemory, boolean verify) {}

  private final Choice choice;

  private OpenOptions(Choice choice) {
    this.choice = choice;
  }

  /** The defaults: engines chosen automatically, checksums verified. */
  public static OpenOptions defaults() {
    return DEFAULTS;
  }

  /** The engine that reads index pages. */
  public Engine index() {
    return choice.index;
  }

  /** The engine that reads data file pages. */
  public Engine data() {
    return choice.data;
  }

  /** Whether opening loads the index into off-heap memory; if so, {@link #index} is ignored. */
  public boolean indexInMemory() {
    return choice.indexInMemory;
  }

  /**
   * Whether lookups verify checksums: on every read from the device, otherwise when a page is first
   * touched.
   */
  public boolean verify() {
    return choice.verify;
  }

  /** These options with one engine for index and data. */
  public OpenOptions withEngine(Engine engine) {
    return withIndexEngine(engine).withDataEngine(engine);
  }

  /** These options with another {@link #index}. */
  public OpenOptions withIndexEngine(Engine engine) {
    Objects.requireNonNull(engine, "engine");
    return new OpenOptions(new Choice(engine, choice.data, choice.indexInMemory, choice.verify));
  }

  /** These options with another {@link #data}. */
  public OpenOptions withDataEngine(Engine engine) {
    Objects.requireNonNull(engine, "engine");
    return new OpenOptions(new Choice(choice.index, engine, choice.indexInMemory, choice.verify));
  }

  /** These options with another {@link #indexInMemory}. */
  public OpenOptions withIndexInMemory(boolean inMemory) {
    return new OpenOptions(new Choice(choice.index, choice.data, inMemory, choice.verify));
  }

  /** These options with another {@link #verify}. */
  public OpenOptions withVerify(boolean verify) {
    return new OpenOptions(new Choice(choice.index, choice.data, choice.indexInMemory, verify));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof OpenOptions options && choice.equals(options.choice);
  }

  @Override
  public int hashCode() {
    return choice.hashCode();
  }

  @Override
  public String toString() {
    return "OpenOptions" + choice;
  }
}

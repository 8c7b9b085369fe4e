package tech.bsdb;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How a database is opened: an immutable value. The {@code with} methods return changed copies. */
public final class OpenOptions {
  /** How pages come into memory. */
  public enum Engine {
    /** Chosen by what is in memory and what the machine offers. */
    AUTO,
    /** Memory-mapped files. */
    MAPPED,
    /** Positional reads through the page cache. */
    BUFFERED,
    /** Reads from the device that bypass the page cache (O_DIRECT). */
    DIRECT,
    /** The same through io_uring, with many reads in flight: Linux, Java 22 and newer. */
    IO_URING,
    /**
     * All files are read and verified at opening, into memory outside the heap, in huge pages where
     * the machine has them (Linux, Java 22 and newer). That memory belongs to this process and
     * stays, whatever else the machine reads. Opening takes the time and the memory of the whole
     * database; on Java 17 to 21 {@code -XX:MaxDirectMemorySize} must allow it.
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

  /** Engines chosen by what the machine offers; checksums verified. */
  public static OpenOptions defaults() {
    return DEFAULTS;
  }

  /** How pages of the index come into memory. */
  public Engine index() {
    return choice.index;
  }

  /** How pages of the data files come into memory. */
  public Engine data() {
    return choice.data;
  }

  /**
   * Whether opening reads the index into memory outside the heap; {@link #index} does not apply
   * then.
   */
  public boolean indexInMemory() {
    return choice.indexInMemory;
  }

  /**
   * Whether lookups verify checksums: on every read from the device, otherwise the first time a
   * page is touched.
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

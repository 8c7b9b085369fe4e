package tech.bsdb;

/**
 * How a database is opened: an immutable value.
 *
 * @param engine how pages come into memory
 * @param verify whether checksums are verified on the way (at a page's first touch)
 */
public record OpenOptions(Engine engine, boolean verify) {
  /** How pages of the index and the data files come into memory. */
  public enum Engine {
    /** Mapped where the files are in memory already, else buffered. */
    AUTO,
    /** Memory-mapped files. */
    MAPPED,
    /** Positional reads through the page cache. */
    BUFFERED
  }

  /** The engine chosen by what the machine offers, checksums verified. */
  public static OpenOptions defaults() {
    return new OpenOptions(Engine.AUTO, true);
  }

  /** These options with another engine. */
  public OpenOptions withEngine(Engine engine) {
    return new OpenOptions(engine, verify);
  }

  /** These options with checksums verified or not. */
  public OpenOptions withVerify(boolean verify) {
    return new OpenOptions(engine, verify);
  }
}

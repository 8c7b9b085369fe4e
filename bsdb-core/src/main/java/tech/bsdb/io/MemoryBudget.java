package tech.bsdb.io;

import java.io.IOException;

/**
 * Is asked for memory before a lookup takes it, so that a caller can bound what all its lookups
 * take together.
 *
 * <p>A lookup may ask several times: for the pages of a large record, for a block that it
 * decompresses, and for the value. It gives nothing back: once it has ended, only its value is
 * left, and the caller settles the difference. One lookup asks from one thread at a time, which
 * need not be the caller's.
 */
@FunctionalInterface
public interface MemoryBudget {
  /** Reads and blocks of up to so many bytes are made without asking; values never are. */
  int UNASKED = 64 << 10;

  /**
   * Asks for memory.
   *
   * @param bytes how much
   * @return whether the lookup may take it; if not, it ends with {@link Exceeded}
   */
  boolean reserve(long bytes);

  /** A lookup was refused the memory that it asked for. */
  final class Exceeded extends IOException {
    private static final long serialVersionUID = 1;

    /** A refusal. */
    public Exceeded(long bytes) {
      super("the memory budget has no room for " + bytes + " bytes; try again later");
    }
  }
}

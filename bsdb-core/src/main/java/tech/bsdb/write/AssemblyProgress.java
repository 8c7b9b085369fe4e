package tech.bsdb.write;

/** Follows an assembly while it completes its files. */
public interface AssemblyProgress {
  /** The phases of an assembly. An assembly may skip phases. */
  enum Phase {
    /** Writes the records. */
    RECORDS,
    /** Counts the distinct keys. */
    COUNT,
    /** Writes what lookups need to find the records. */
    INDEX,
    /**
     * Sorts the keys and writes their order; puts the records in this order before they are
     * indexed.
     */
    ORDER
  }

  /**
   * Reports the progress of a phase. Called by the thread that completes the assembly; an exception
   * ends the assembly.
   *
   * @param phase the current phase
   * @param done records processed in this phase so far; starts again at 0 if the phase is repeated
   */
  void progress(Phase phase, long done);

  /**
   * Reports that a phase was completed; a repeated phase may be completed again. Called by the
   * thread that completes the assembly.
   */
  void ended(Phase phase);

  /**
   * Whether the build was cancelled. An assembly polls this and throws a {@link
   * java.util.concurrent.CancellationException}. Thread-safe.
   */
  boolean cancelled();
}

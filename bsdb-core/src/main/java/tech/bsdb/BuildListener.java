package tech.bsdb;

/** Receives build progress. Called from build threads, one call at a time; must return quickly. */
@FunctionalInterface
public interface BuildListener {
  /** The stages of a build, in order. */
  enum Stage {
    /** Reads records and writes them to the data files. */
    RECORDS,
    /** Counts signatures, if duplicates may be dropped or memory is small. */
    COUNT,
    /** Solves the hash function and writes the index; in the packed layout, packs the records. */
    INDEX,
    /** Forces files to the device and publishes the database. */
    PUBLISH
  }

  /**
   * Reports the progress of a stage.
   *
   * @param stage the stage
   * @param done records processed so far
   * @param total total records, or -1 if unknown
   */
  void progress(Stage stage, long done, long total);
}

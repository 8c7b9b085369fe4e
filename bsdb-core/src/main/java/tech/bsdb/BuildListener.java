package tech.bsdb;

/** Receives build progress. Called from build threads, one call at a time; must return quickly. */
@FunctionalInterface
public interface BuildListener {
  /** The stages of a build, in order. */
  enum Stage {
    /**
     * Reads records and writes them to the data files; routes them, if there are several shards.
     */
    RECORDS,
    /**
     * Counts signatures, if duplicates may be dropped or memory is small. Part of the next stage,
     * if there are several shards.
     */
    COUNT,
    /**
     * Solves the hash function and writes the index; in the packed layout, packs the records.
     * Writes all files of the shards, if there are several.
     */
    INDEX,
    /**
     * Sorts the keys and writes their order, if asked for; except in the packed layouts also the
     * records, so that this stage comes before COUNT. Part of INDEX for several shards.
     */
    ORDER,
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

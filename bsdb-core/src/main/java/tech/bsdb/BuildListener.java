package tech.bsdb;

/**
 * Hears how far a build is. Called from the build's own threads, one call at a time; it must return
 * quickly.
 */
@FunctionalInterface
public interface BuildListener {
  /** The stages of a build, in their order. */
  enum Stage {
    /** Records are taken in and written to the data files. */
    RECORDS,
    /** Signatures are counted, when duplicates may be dropped or memory is small. */
    COUNT,
    /** The hash function is solved and the index written. */
    INDEX,
    /** Files are forced to the device and the database is published. */
    PUBLISH
  }

  /**
   * Says how far a stage is.
   *
   * @param stage the stage
   * @param done records done in it
   * @param total records to do, or -1 where that is not known
   */
  void progress(Stage stage, long done, long total);
}

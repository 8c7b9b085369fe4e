package tech.bsdb.tools.input;

/**
 * Hears how far the reading is, in the thread that reads; called about once a mebibyte, so it
 * should be quick.
 */
@FunctionalInterface
public interface InputListener {
  /** Listens to nothing. */
  InputListener NONE = (bytesRead, totalBytes, records) -> {};

  /**
   * Another piece of the input was handed on.
   *
   * @param bytesRead bytes read up to now, compressed where the files are
   * @param totalBytes bytes of all inputs, or -1 where that is not known
   * @param records records handed on up to now
   */
  void progress(long bytesRead, long totalBytes, long records);
}

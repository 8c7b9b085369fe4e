package tech.bsdb.tools.input;

/**
 * Receives the progress of reading, in the reading thread; called about once per mebibyte, so it
 * should be quick.
 */
@FunctionalInterface
public interface InputListener {
  /** Ignores progress. */
  InputListener NONE = (bytesRead, totalBytes, records) -> {};

  /**
   * Called when another piece of the input has been passed on.
   *
   * @param bytesRead bytes read so far, before decompression
   * @param totalBytes bytes of all inputs, or -1 if unknown
   * @param records records passed on so far
   */
  void progress(long bytesRead, long totalBytes, long records);
}

package tech.bsdb.transfer;

/**
 * What a transfer did.
 *
 * @param files the number of files that arrived, with manifests of databases but not that of a set
 * @param bytes the number of bytes that arrived, including those that arrived twice
 * @param resumedBytes bytes that an earlier transfer had left
 * @param reusedFiles the number of files, without manifests, that other versions of the store have
 * @param reusedBytes the bytes of those files
 * @param retries the number of failures after which the transfer tried again
 * @param folded the number of databases that were not fetched, but made here from older ones and
 *     the changes since
 */
public record TransferReport(
    long files,
    long bytes,
    long resumedBytes,
    long reusedFiles,
    long reusedBytes,
    long retries,
    long folded) {
  /** Nothing was done. */
  public static final TransferReport NONE = new TransferReport(0, 0, 0, 0, 0, 0, 0);

  /** A database was made. */
  public static final TransferReport FOLDED = new TransferReport(0, 0, 0, 0, 0, 0, 1);

  /** What this and another transfer did. */
  public TransferReport plus(TransferReport other) {
    return new TransferReport(
        files + other.files,
        bytes + other.bytes,
        resumedBytes + other.resumedBytes,
        reusedFiles + other.reusedFiles,
        reusedBytes + other.reusedBytes,
        retries + other.retries,
        folded + other.folded);
  }
}

package tech.bsdb.transfer;

/** What a transfer did. Immutable. */
public final class TransferReport {
  private final long files;
  private final long bytes;
  private final long resumedBytes;
  private final long reusedFiles;
  private final long reusedBytes;
  private final long retries;

  TransferReport(
      long files, long bytes, long resumedBytes, long reusedFiles, long reusedBytes, long retries) {
    this.files = files;
    this.bytes = bytes;
    this.resumedBytes = resumedBytes;
    this.reusedFiles = reusedFiles;
    this.reusedBytes = reusedBytes;
    this.retries = retries;
  }

  /** The number of files that arrived, with the manifests of databases, not that of a set. */
  public long files() {
    return files;
  }

  /** The number of bytes that arrived, with those that arrived twice. */
  public long bytes() {
    return bytes;
  }

  /** Bytes that an earlier transfer had left. */
  public long resumedBytes() {
    return resumedBytes;
  }

  /** The number of files, without manifests, that other versions of the store have. */
  public long reusedFiles() {
    return reusedFiles;
  }

  /** The bytes of those files. */
  public long reusedBytes() {
    return reusedBytes;
  }

  /** The number of failures after which the transfer tried again. */
  public long retries() {
    return retries;
  }
}

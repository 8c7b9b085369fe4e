package tech.bsdb.hash;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * A kind of minimal perfect hash function: how its file is built, opened and verified. {@link
 * HashKinds} lists all kinds. Stateless and thread-safe.
 */
public interface HashKind {
  /** The name of the kind in the manifest. Never changes. */
  String name();

  /**
   * Opens a function.
   *
   * @param path its file, whose frame has been verified
   * @param entry the file's entry in the manifest
   * @param facts the facts of the database
   * @param verify whether to verify pages, on first touch or while loading
   * @param loader loads the whole file; null to map it
   * @throws tech.bsdb.error.CorruptDatabaseException if the file does not match the facts, or is
   *     found damaged while loading
   */
  HashFunction open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException;

  /**
   * Returns a verifier of the pages of a function's file, for a reader of the whole file.
   *
   * @param entry the file's entry in the manifest
   * @param source the file's pages; must stay open while the verifier is used
   * @param check the check of the file
   */
  PageVerifier verifier(FileEntry entry, PageSource source, PageCheck check);

  /** How often a build may try to construct a function, at least once. */
  int attempts();

  /**
   * Plans the construction of a function.
   *
   * @param keys the number of keys, or an upper bound while duplicates have not been counted
   * @param checksumBits checksum bits per key, 0 to 32
   * @param partitions the number of partitions of the signatures, a power of two
   * @param attempt 0, increased by one after each {@link BucketOverflowException}, less than {@link
   *     #attempts}
   */
  HashConstruction construct(long keys, int checksumBits, int partitions, int attempt);

  /** Verifies single pages of one file. Used by one thread at a time. */
  @FunctionalInterface
  interface PageVerifier {
    /**
     * Verifies a page, including header and footer.
     *
     * @param window shows the page
     * @param offset where the page starts in the window's buffer
     * @param number the page's number in the file
     * @return the page's checksum, for the file's digest
     * @throws tech.bsdb.error.CorruptDatabaseException if the page is damaged
     */
    int verify(Window window, int offset, long number) throws IOException;
  }
}

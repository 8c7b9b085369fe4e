package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.error.DuplicateKeyException;

/** Rereads the records of a build to find two that have the same signature. */
final class DuplicateSearch {
  /**
   * The records of the build, in the order in which they were added; unless they are stored in that
   * of their keys, which {@link KeyOrder} has found to be different then.
   */
  @FunctionalInterface
  interface Records {
    /** Starts a scan over all records, which the caller closes. */
    RecordScanner scan() throws IOException;
  }

  private DuplicateSearch() {}

  /**
   * Returns the error for two records with the same signature: it reports their key and the numbers
   * of the first two records with that key, or their two keys.
   *
   * @param pair the addresses of the records
   */
  static IOException find(DuplicateSignatureException pair, Records records) throws IOException {
    byte @Nullable [] key = null;
    try (RecordScanner scanner = records.scan()) {
      while (scanner.next()) {
        if (scanner.address() == pair.first() || scanner.address() == pair.second()) {
          if (key == null) {
            key = scanner.key();
          } else if (!Arrays.equals(key, scanner.key())) {
            return SignatureCollisions.between(key, scanner.key());
          }
        }
      }
    }
    if (key != null) {
      try (RecordScanner scanner = records.scan()) {
        long first = -1;
        for (long number = 0; scanner.next(); number++) {
          if (Arrays.equals(key, scanner.key())) {
            if (first >= 0) {
              return new DuplicateKeyException(key, first, number);
            }
            first = number;
          }
        }
      }
    }
    return new IOException(
        "two records have the same signature, but rereading the records did not find them: "
            + pair.getMessage());
  }
}

package tech.bsdb.hash;

/** Thrown when a bucket cannot hold its keys, so the function must be built with more buckets. */
public final class BucketOverflowException extends Exception {
  private static final long serialVersionUID = 1L;

  BucketOverflowException(int keys) {
    super("a bucket of " + keys + " keys, where at most " + BucketLayout.MAX_KEYS + " fit");
  }
}

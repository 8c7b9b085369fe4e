package tech.bsdb.hash;

/**
 * Thrown when a bucket cannot hold its keys or cannot be solved, so the function must be
 * constructed anew with the next attempt.
 */
public final class BucketOverflowException extends Exception {
  private static final long serialVersionUID = 1L;

  BucketOverflowException(int keys) {
    super("a bucket of " + keys + " keys, which no seed solves");
  }

  BucketOverflowException(int keys, int most) {
    super("a bucket of " + keys + " keys, where at most " + most + " fit");
  }
}

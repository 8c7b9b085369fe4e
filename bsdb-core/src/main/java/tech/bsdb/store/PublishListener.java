package tech.bsdb.store;

/** Receives publication progress, on the publishing thread. */
public interface PublishListener {
  /** Does nothing. */
  PublishListener NONE = new PublishListener() {};

  /** Waiting for another publication to the same store. Called once. */
  default void waiting() {}

  /** Reports the number of bytes copied so far and in total. */
  default void copied(long doneBytes, long allBytes) {}

  /** Reports the number of pages verified so far and in total. */
  default void verified(long donePages, long allPages) {}
}

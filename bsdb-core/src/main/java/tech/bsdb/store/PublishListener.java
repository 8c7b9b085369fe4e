package tech.bsdb.store;

/** Hears how far a publication is; called on the thread that publishes. */
public interface PublishListener {
  /** Does nothing. */
  PublishListener NONE = new PublishListener() {};

  /** Another publication to the same store is under way, and is waited for. Called once. */
  default void waiting() {}

  /** So many bytes of so many are copied. */
  default void copied(long doneBytes, long allBytes) {}

  /** So many pages of so many are verified. */
  default void verified(long donePages, long allPages) {}
}

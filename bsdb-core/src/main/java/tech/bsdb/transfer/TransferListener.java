package tech.bsdb.transfer;

import java.time.Duration;

/** Receives the progress of a transfer, on any of its threads, one call at a time. */
public interface TransferListener {
  /** Does nothing. */
  TransferListener NONE = new TransferListener() {};

  /**
   * Reports the bytes that are here, and those that will be. Files that were here before the
   * transfer began do not count.
   */
  default void arrived(long doneBytes, long allBytes) {}

  /**
   * Reports bytes as they arrive, including those of manifests, and those that are damaged and
   * fetched again.
   */
  default void received(long bytes) {}

  /**
   * Reports a failure after which the transfer tries again.
   *
   * @param location what could not be read
   * @param why the failure, as people say it
   * @param pause the time until the next attempt
   */
  default void retrying(String location, String why, Duration pause) {}

  /**
   * Reports how many records a database made from changes has so far, and about how many it will.
   */
  default void folding(long doneRecords, long allRecords) {}

  /**
   * Reports that a database is fetched whole although there are changes to make it from.
   *
   * @param version the name of the version
   * @param why the reason, as people say it
   */
  default void whole(String version, String why) {}
}

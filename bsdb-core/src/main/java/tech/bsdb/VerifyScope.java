package tech.bsdb;

/** What a verification checks. */
public enum VerifyScope {
  /**
   * The bytes alone: that all files have the content hashes of the manifest, so that the database
   * is the one whose id it has. Reads each file once, and looks up no key.
   */
  CONTENT,

  /** All bytes, and each key through the index. */
  ALL
}

package tech.bsdb.write;

/** Names in the temporary directory of a build that others than its assembly use. */
public final class WorkFiles {
  /** The directory of the temporary database of changes. */
  public static final String CHANGES = "changes.part";

  private WorkFiles() {}
}

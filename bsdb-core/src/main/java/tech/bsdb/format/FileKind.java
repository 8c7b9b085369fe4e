package tech.bsdb.format;

/**
 * What a file of a database holds; the code stands in its header, footer and page checksums
 * (FORMAT.md §2).
 */
public enum FileKind {
  /** The list of files and every fact that a reader needs. */
  MANIFEST(1, "manifest"),
  /** The minimal perfect hash function and the checksum bits. */
  HASH(2, "hash"),
  /** Slot to address, or slot to value. */
  INDEX(3, "index"),
  /** Records. */
  DATA(4, "data"),
  /** The ZSTD dictionary. */
  DICTIONARY(5, "dictionary");

  private final int code;
  private final String label;

  FileKind(int code, String label) {
    this.code = code;
    this.label = label;
  }

  /** The number that stands for the kind in files; it never changes. */
  public int code() {
    return code;
  }

  /** The name of the kind in the manifest and in file names. */
  public String label() {
    return label;
  }

  /** The kind of that label, or an {@link IllegalArgumentException}. */
  static FileKind of(String label) {
    for (FileKind kind : values()) {
      if (kind.label.equals(label)) {
        return kind;
      }
    }
    throw new IllegalArgumentException("unknown kind of file \"" + label + "\"");
  }
}

package tech.bsdb.format;

import java.util.Locale;

/** How records lie in the data files (FORMAT.md §4). */
public enum RecordLayout {
  /**
   * Records never straddle a page, so that one page read answers; a large record has pages of its
   * own.
   */
  BLOCKED("blocked"),
  /** Records lie back to back and may straddle pages. */
  COMPACT("compact"),
  /** Records are gathered in blocks, and each block is one ZSTD frame. */
  COMPRESSED("compressed"),
  /** No data files: the index holds the values (approximate mode). */
  NONE("none");

  private final String id;

  RecordLayout(String id) {
    this.id = id;
  }

  /** The name that the manifest stores; it never changes. */
  public String id() {
    return id;
  }

  /**
   * The layout that a manifest names.
   *
   * @throws IllegalArgumentException if no layout has that name
   */
  public static RecordLayout of(String id) {
    for (RecordLayout layout : values()) {
      if (layout.id.equals(id)) {
        return layout;
      }
    }
    throw new IllegalArgumentException(String.format(Locale.ROOT, "unknown layout \"%s\"", id));
  }
}

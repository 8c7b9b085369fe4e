package tech.bsdb.format;

import java.util.Locale;

/** Record layouts of the data files (FORMAT.md §4). */
public enum RecordLayout {
  /** Records never straddle a page, so one page read suffices; a large record has its own pages. */
  BLOCKED("blocked"),
  /** Records are stored back to back and may straddle pages. */
  COMPACT("compact"),
  /** Records are grouped into blocks, each compressed as one ZSTD frame. */
  COMPRESSED("compressed"),
  /** No data files: the index holds the values (approximate mode). */
  NONE("none");

  private final String id;

  RecordLayout(String id) {
    this.id = id;
  }

  /** The name stored in the manifest; never changes. */
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

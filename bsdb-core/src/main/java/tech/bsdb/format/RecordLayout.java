package tech.bsdb.format;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Record layouts of the data files (FORMAT.md §4, §12). */
public enum RecordLayout {
  /** Records never straddle a page, so one page read suffices; a large record has its own pages. */
  BLOCKED("blocked"),
  /** Records are stored back to back and may straddle pages. */
  COMPACT("compact"),
  /** Records are grouped into blocks, each compressed as one ZSTD frame. */
  COMPRESSED("compressed"),
  /** Records are in the order of their signatures, grouped into bins, and need no addresses. */
  PACKED("packed"),
  /** As packed, with the records of each bin in compressed blocks. */
  PACKED_COMPRESSED("packed-compressed"),
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

  /** Whether records lie in bins, in the order of their signatures. */
  public boolean packed() {
    return this == PACKED || this == PACKED_COMPRESSED;
  }

  /** Whether records are stored in compressed blocks. */
  public boolean compressed() {
    return this == COMPRESSED || this == PACKED_COMPRESSED;
  }

  /** The layout with a name, or null. */
  public static @Nullable RecordLayout named(String id) {
    for (RecordLayout layout : values()) {
      if (layout.id.equals(id)) {
        return layout;
      }
    }
    return null;
  }

  /** The names of all layouts, for messages. */
  public static String names() {
    return Arrays.stream(values()).map(RecordLayout::id).collect(Collectors.joining(", "));
  }

  /**
   * The layout that a manifest names.
   *
   * @throws IllegalArgumentException if no layout has that name
   */
  public static RecordLayout of(String id) {
    RecordLayout layout = named(id);
    if (layout == null) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, "unknown layout \"%s\"", id));
    }
    return layout;
  }
}

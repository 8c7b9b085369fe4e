package tech.bsdb.format;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Kinds of database files. The code of the kind is part of the file's header, footer and page
 * checksums (FORMAT.md §2).
 */
public enum FileKind {
  /** The list of files and everything a reader needs to know. */
  MANIFEST(1, "manifest"),
  /** The minimal perfect hash function and the checksum bits. */
  HASH(2, "hash"),
  /** Slot to address, or slot to value. */
  INDEX(3, "index"),
  /** Records. */
  DATA(4, "data"),
  /** The ZSTD dictionary. */
  DICTIONARY(5, "dictionary"),
  /** The filter of the packed layout, which rejects absent keys. */
  FILTER(6, "filter"),
  /** The keys in ascending order, in a tree. */
  ORDER(7, "order");

  private final int code;
  private final String label;

  FileKind(int code, String label) {
    this.code = code;
    this.label = label;
  }

  /** The number that identifies the kind in files; never changes. */
  public int code() {
    return code;
  }

  /** The name of the kind in the manifest and in file names. */
  public String label() {
    return label;
  }

  /** The labels of all kinds, for messages. */
  static String labels() {
    return Arrays.stream(values()).map(FileKind::label).collect(Collectors.joining(", "));
  }

  /** The kind with the given label, or null if there is none. */
  static @Nullable FileKind of(String label) {
    for (FileKind kind : values()) {
      if (kind.label.equals(label)) {
        return kind;
      }
    }
    return null;
  }
}

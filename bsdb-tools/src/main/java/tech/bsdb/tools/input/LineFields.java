package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Finds the key and the value in a line; for use by one thread. */
@FunctionalInterface
interface LineFields {
  /**
   * Passes the line's record on.
   *
   * @param bytes contains the line, valid UTF-8, without its end and empty only if {@link
   *     #takesEmptyLines}, in {@code from} to {@code to}
   * @return why it is not a record, or null if it was passed on
   */
  @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records) throws IOException;

  /** Whether a line without any character is passed on, too. */
  default boolean takesEmptyLines() {
    return false;
  }

  /** Takes a more specific error message for the last defect returned, or null if there is none. */
  default @Nullable String takeDetail() {
    return null;
  }

  /**
   * Lines of a key, a separator and a value: the text before and after the first separator,
   * untrimmed.
   */
  static LineFields separated(byte[] separator, Admission admission) {
    return (bytes, from, to, records) -> {
      int at = ByteSearch.indexOf(bytes, from, to, separator);
      if (at < 0) {
        return Defect.NO_SEPARATOR;
      }
      int valueFrom = at + separator.length;
      return admission.admit(bytes, from, at - from, bytes, valueFrom, to - valueFrom, records);
    };
  }

  /**
   * Lines of one JSON object each: the key is the text of one of its fields, the value is the whole
   * line.
   */
  static LineFields json(JsonMembers members, Admission admission) {
    return (bytes, from, to, records) -> {
      Defect defect = members.read(bytes, from, to);
      if (defect != null) {
        return defect;
      }
      byte[] key = members.key();
      return members.deletes()
          ? admission.admitDeletion(key, 0, key.length, records)
          : admission.admit(key, 0, key.length, bytes, from, to - from, records);
    };
  }

  /** Lines of one key each, which is to be deleted. */
  static LineFields keys(Admission admission, boolean takesEmptyLines) {
    return new LineFields() {
      @Override
      public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
          throws IOException {
        return admission.admitDeletion(bytes, from, to - from, records);
      }

      @Override
      public boolean takesEmptyLines() {
        return takesEmptyLines;
      }
    };
  }
}

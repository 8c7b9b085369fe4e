package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.format.PageEncoder;

/**
 * A view of a record to be written to a data file: its signature and the locations of its frame,
 * key and value. The view moves from record to record, so receivers must not retain it. Not
 * thread-safe.
 */
public final class FramedRecord {
  /** The first half of the signature. */
  public long high;

  /** The second half of the signature. */
  public long low;

  /** Holds the frame followed by the key. */
  public byte[] head = new byte[0];

  /** Where the frame starts. */
  public int headStart;

  /** Length of frame and key together. */
  public int headLength;

  /** Length of the key. */
  public int keyLength;

  /** Bytes that the key has in common with that of the record before; -1 if unknown. */
  public int sharedWithLast = -1;

  /** Holds the value; the same array as {@link #head} if the value follows the key. */
  public byte[] value = new byte[0];

  /** Where the value starts. */
  public int valueStart;

  /** Length of the value. */
  public int valueLength;

  /** Whether the key is to be deleted from a base; the value is then empty. */
  public boolean deletion;

  /** Where the key starts in {@link #head}. */
  public int keyStart() {
    return headStart + headLength - keyLength;
  }

  /** Whether the value follows the key in the same array. */
  public boolean isContiguous() {
    return value == head && valueStart == headStart + headLength;
  }

  /** Length of the whole record. */
  long length() {
    return (long) headLength + valueLength;
  }

  /** Writes the whole record. */
  void put(PageEncoder pages) throws IOException {
    if (isContiguous()) {
      pages.put(head, headStart, headLength + valueLength);
    } else {
      pages.put(head, headStart, headLength);
      pages.put(value, valueStart, valueLength);
    }
  }
}

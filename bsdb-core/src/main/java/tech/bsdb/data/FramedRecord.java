package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.format.PageEncoder;

/**
 * A record on its way to a data file: its signature, and where its frame, key and value lie. A view
 * that is moved from record to record; whoever gets it keeps nothing of it. Not thread-safe.
 */
public final class FramedRecord {
  /** The first half of the signature. */
  public long high;

  /** The second half of the signature. */
  public long low;

  /** Holds the frame and, behind it, the key. */
  public byte[] head = new byte[0];

  /** Where the frame starts. */
  public int headStart;

  /** Bytes of the frame and the key together. */
  public int headLength;

  /** Bytes of the key. */
  public int keyLength;

  /** Holds the value: the same array as {@link #head} where the value follows the key. */
  public byte[] value = new byte[0];

  /** Where the value starts. */
  public int valueStart;

  /** Bytes of the value. */
  public int valueLength;

  /** Where the key starts in {@link #head}. */
  public int keyStart() {
    return headStart + headLength - keyLength;
  }

  /** Bytes of the whole record. */
  long length() {
    return (long) headLength + valueLength;
  }

  /** Writes the whole record. */
  void put(PageEncoder pages) throws IOException {
    if (value == head && valueStart == headStart + headLength) {
      pages.put(head, headStart, headLength + valueLength);
    } else {
      pages.put(head, headStart, headLength);
      pages.put(value, valueStart, valueLength);
    }
  }
}

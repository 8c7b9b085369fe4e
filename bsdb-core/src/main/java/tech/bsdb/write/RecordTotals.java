package tech.bsdb.write;

import tech.bsdb.format.RecordFrame;

/** Counts and measures records. Not thread-safe. */
public final class RecordTotals {
  private long records;
  private long recordBytes;
  private long keyBytes;
  private long valueBytes;
  private int longestKey;
  private int longestValue;

  /** Adds a record. */
  public void add(int keyLength, int valueLength) {
    records++;
    recordBytes += RecordFrame.length(keyLength, valueLength);
    keyBytes += keyLength;
    valueBytes += valueLength;
    longestKey = Math.max(longestKey, keyLength);
    longestValue = Math.max(longestValue, valueLength);
  }

  /** Adds all records of others. */
  public void add(RecordTotals others) {
    records += others.records;
    recordBytes += others.recordBytes;
    keyBytes += others.keyBytes;
    valueBytes += others.valueBytes;
    longestKey = Math.max(longestKey, others.longestKey);
    longestValue = Math.max(longestValue, others.longestValue);
  }

  /** The number of records. */
  public long records() {
    return records;
  }

  /** Bytes of all records with their headers. */
  public long recordBytes() {
    return recordBytes;
  }

  /** Bytes of all keys. */
  public long keyBytes() {
    return keyBytes;
  }

  /** Bytes of all values. */
  public long valueBytes() {
    return valueBytes;
  }

  /** Bytes of the longest key. */
  public int longestKey() {
    return longestKey;
  }

  /** Bytes of the longest value. */
  public int longestValue() {
    return longestValue;
  }
}

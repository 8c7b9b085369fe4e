package tech.bsdb.write;

import tech.bsdb.format.RecordFrame;

/** Counts and measures records. Not thread-safe. */
final class RecordTotals {
  private long records;
  private long recordBytes;
  private long keyBytes;
  private long valueBytes;
  private int longestKey;
  private int longestValue;

  /** Adds a record. */
  void add(int keyLength, int valueLength) {
    records++;
    recordBytes += RecordFrame.length(keyLength, valueLength);
    keyBytes += keyLength;
    valueBytes += valueLength;
    longestKey = Math.max(longestKey, keyLength);
    longestValue = Math.max(longestValue, valueLength);
  }

  /** Adds all records of others. */
  void add(RecordTotals others) {
    records += others.records;
    recordBytes += others.recordBytes;
    keyBytes += others.keyBytes;
    valueBytes += others.valueBytes;
    longestKey = Math.max(longestKey, others.longestKey);
    longestValue = Math.max(longestValue, others.longestValue);
  }

  /** The number of records. */
  long records() {
    return records;
  }

  /** Bytes of all records with their headers. */
  long recordBytes() {
    return recordBytes;
  }

  /** Bytes of all keys. */
  long keyBytes() {
    return keyBytes;
  }

  /** Bytes of all values. */
  long valueBytes() {
    return valueBytes;
  }

  /** Bytes of the longest key. */
  int longestKey() {
    return longestKey;
  }

  /** Bytes of the longest value. */
  int longestValue() {
    return longestValue;
  }
}

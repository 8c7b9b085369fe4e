package tech.bsdb.tools.serve.resp;

import java.io.ByteArrayOutputStream;

/**
 * Values in the form of {@code DUMP}, which {@code RESTORE} of every Redis since 2.6 takes: a type,
 * strings with their lengths, the version of the form, and a CRC-64 (Jones) of all that. Not
 * thread-safe.
 */
final class Dump {
  private static final int STRING = 0;
  private static final int HASH = 4;
  private static final int VERSION = 6;
  private static final long POLYNOMIAL = 0x95AC9329AC4BC9B5L; // reflected

  private static final long[] TABLE = new long[256];

  static {
    for (int i = 0; i < TABLE.length; i++) {
      long crc = i;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 1) == 0 ? crc >>> 1 : crc >>> 1 ^ POLYNOMIAL;
      }
      TABLE[i] = crc;
    }
  }

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Begins a string, which {@link #add} adds. */
  static Dump string() {
    Dump dump = new Dump();
    dump.bytes.write(STRING);
    return dump;
  }

  /** Begins a hash; its fields and their values are {@link #add}ed in turn. */
  static Dump hash(int fields) {
    Dump dump = new Dump();
    dump.bytes.write(HASH);
    dump.length(fields);
    return dump;
  }

  private void length(int length) {
    if (length < 1 << 6) {
      bytes.write(length);
    } else if (length < 1 << 14) {
      bytes.write(0x40 | length >>> 8);
      bytes.write(length);
    } else {
      bytes.write(0x80);
      for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.write(length >>> shift);
      }
    }
  }

  void add(byte[] from, int offset, int length) {
    length(length);
    bytes.write(from, offset, length);
  }

  /** Returns the whole. */
  byte[] end() {
    bytes.write(VERSION);
    bytes.write(0);
    long crc = crc(bytes.toByteArray());
    for (int shift = 0; shift < Long.SIZE; shift += 8) {
      bytes.write((int) (crc >>> shift));
    }
    return bytes.toByteArray();
  }

  static long crc(byte[] of) {
    long crc = 0;
    for (byte each : of) {
      crc = TABLE[(int) (crc ^ each) & 0xFF] ^ crc >>> 8;
    }
    return crc;
  }
}

package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Writes answers as frames: for each key the length of its value in four bytes, big-endian, then
 * the value's bytes; the length is -1 if the key is absent. Keys are not repeated. Not thread-safe.
 */
public final class AnswerFrames extends AnswerWriter {
  @Override
  public void write(byte[] key, byte[] values, int offset, int length) {
    putInt(length);
    if (length != ABSENT) {
      out.put(values, offset, length);
    }
  }

  /** Writes a frame whose value is the version's name. */
  @Override
  public void writeVersion(String version, String id) {
    byte[] name = version.getBytes(UTF_8);
    putInt(name.length);
    out.put(name, 0, name.length);
  }

  private void putInt(int number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      out.put(number >> shift);
    }
  }
}

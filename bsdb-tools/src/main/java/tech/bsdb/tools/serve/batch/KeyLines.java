package tech.bsdb.tools.serve.batch;

/** Reads keys, one per line. */
final class KeyLines extends KeyStream {
  private long lineStart;

  /** Whether the last line is still open. */
  private boolean begun;

  KeyLines(KeyEncoding encoding, KeyList keys) {
    super(encoding, keys);
  }

  @Override
  public void take(byte[] bytes, int from, int to) throws RequestRefusedException {
    int at = from;
    while (at < to) {
      int end = lineEnd(bytes, at, to);
      append(bytes, at, end);
      begun = true;
      at = end;
      if (at < to) {
        at++;
        int length = keys.openLength();
        if (length > 0 && keys.bytes()[keys.openOffset() + length - 1] == '\r') {
          keys.shorten(length - 1);
        }
        endKey();
        lineStart += length + 1;
        begun = false;
      }
    }
  }

  private static int lineEnd(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != '\n') {
      at++;
    }
    return at;
  }

  private void append(byte[] bytes, int from, int to) throws RequestRefusedException {
    require(keys.openLength() + to - from, MAX_KEY + 1); // may include a carriage return
    keys.append(bytes, from, to);
  }

  @Override
  String place() {
    return "line " + (keys.size() + 1) + " (at byte " + lineStart + ")";
  }

  @Override
  public void end() throws RequestRefusedException {
    if (begun) {
      endKey();
    }
  }
}

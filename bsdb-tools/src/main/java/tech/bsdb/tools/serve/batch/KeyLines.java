package tech.bsdb.tools.serve.batch;

/** Reads keys, one per line. */
final class KeyLines extends KeyStream {
  private long lineStart;

  /** Whether the last line is still open; {@link #lineLength} is its length in bytes. */
  private boolean begun;

  private long lineLength;

  KeyLines(KeyEncoding encoding, KeyList keys) {
    super(encoding, keys);
  }

  @Override
  void take(byte[] bytes, int from, int to) throws BadRequestException {
    int at = from;
    while (at < to) {
      int end = lineEnd(bytes, at, to);
      append(bytes, at, end);
      begun = true;
      at = end;
      if (at < to) {
        at++;
        if (lineLength > 0 && keys.bytes()[keys.openOffset() + keys.openLength() - 1] == '\r') {
          keys.shorten(keys.openLength() - 1);
        }
        endKey(lineLength + 1);
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

  private void append(byte[] bytes, int from, int to) throws BadRequestException {
    lineLength += to - from;
    if (lineLength > MAX_KEY + 1) { // may include a carriage return
      throw wrong(413, "is longer than " + MAX_KEY + " bytes");
    }
    keys.append(bytes, from, to);
  }

  private void endKey(long consumed) throws BadRequestException {
    if (keys.openLength() > MAX_KEY) {
      throw wrong(413, "is longer than " + MAX_KEY + " bytes");
    }
    if (!keys.end(encoding)) {
      throw wrong(400, encoding.refusal());
    }
    lineStart += consumed;
    lineLength = 0;
    begun = false;
  }

  private BadRequestException wrong(int status, String what) {
    return new BadRequestException(
        status, "line " + (keys.size() + 1) + " (at byte " + lineStart + ") " + what);
  }

  @Override
  public void end() throws BadRequestException {
    if (begun) {
      endKey(lineLength);
    }
  }
}

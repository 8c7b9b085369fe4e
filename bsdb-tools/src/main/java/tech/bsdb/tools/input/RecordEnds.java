package tech.bsdb.tools.input;

/**
 * Finds where records end in a file's bytes, which come piece by piece: each call goes on where the
 * one before it ended.
 */
interface RecordEnds {
  /**
   * The index after the last end of a record in the piece, or -1 if none ends there; all of the
   * piece is seen then.
   */
  int lastEnd(byte[] bytes, int from, int to);

  /**
   * The index after the first end of a record in the piece, or -1 if none ends there; the rest is
   * not seen yet.
   */
  int firstEnd(byte[] bytes, int from, int to);

  /** Each line feed ends a record. */
  RecordEnds LINE_FEEDS =
      new RecordEnds() {
        @Override
        public int lastEnd(byte[] bytes, int from, int to) {
          int lineFeed = ByteSearch.lastIndexOf(bytes, from, to, (byte) '\n');
          return lineFeed < 0 ? -1 : lineFeed + 1;
        }

        @Override
        public int firstEnd(byte[] bytes, int from, int to) {
          int lineFeed = ByteSearch.indexOf(bytes, from, to, (byte) '\n');
          return lineFeed < 0 ? -1 : lineFeed + 1;
        }
      };
}

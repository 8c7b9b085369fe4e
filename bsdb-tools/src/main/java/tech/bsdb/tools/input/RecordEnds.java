package tech.bsdb.tools.input;

/**
 * Finds the ends of records in a file's bytes, piece by piece: each call continues where the
 * previous one ended.
 */
interface RecordEnds {
  /**
   * The index after the last record end in the piece, or -1 if there is none; the whole piece has
   * then been seen.
   */
  int lastEnd(byte[] bytes, int from, int to);

  /**
   * The index after the first record end in the piece, or -1 if there is none; the rest has not
   * been seen yet.
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

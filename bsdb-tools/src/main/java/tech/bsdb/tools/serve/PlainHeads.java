package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import tech.bsdb.tools.serve.client.HeldMemory;

/**
 * The heads of the answers of a version to plain GETs, prepared as bytes. Only the length of a
 * value, the date and the digits of the tag change from answer to answer.
 *
 * @param present the head of a value
 * @param absent the answer for an absent key
 * @param absence the body of the answer for an absent key
 * @param mostRead the maximum bytes that a lookup may need; one that needs more reads a value that
 *     is too long to be answered at once
 * @param allFree whether no value is so long that the memory for it is counted
 */
record PlainHeads(Head present, Head absent, byte[] absence, long mostRead, boolean allFree) {
  /** Maximum bytes of a value. */
  private static final int MOST_VALUE = 64 << 10;

  /**
   * A head.
   *
   * @param before what precedes the length
   * @param middle what comes between the date and the digits of the tag
   * @param after what follows them
   */
  record Head(byte[] before, byte[] middle, byte[] after) {}

  /**
   * Prepares the heads of a version.
   *
   * @param type the type of its values
   * @param middle what comes between the date and the digits of the tag
   * @param longestValue the length of the longest value
   */
  static PlainHeads of(MediaType type, String middle, long longestValue) {
    return new PlainHeads(
        head(200, type, middle, ""),
        head(Reply.ABSENT.status(), Reply.ABSENT.type(), middle, Served.ABSENCE),
        Reply.ABSENT.body(),
        longestValue <= MOST_VALUE ? Long.MAX_VALUE : MOST_VALUE,
        longestValue <= HeldMemory.FREE);
  }

  private static Head head(int status, MediaType type, String middle, String tagEnd) {
    return new Head(
        ResponseHead.untilLength(status, type).getBytes(ISO_8859_1),
        middle.getBytes(ISO_8859_1),
        (tagEnd + "\"\r\n\r\n").getBytes(ISO_8859_1));
  }
}

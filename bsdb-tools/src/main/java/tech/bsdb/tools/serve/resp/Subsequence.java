package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** {@code LCS}: the longest common subsequence of two strings. */
final class Subsequence {
  /** The most pairs of bytes that are compared, each of which takes 4 bytes of memory. */
  private static final long MOST_PAIRS = 1 << 20;

  private static final String STRINGS = "ERR The specified keys must contain string values";

  /** What is to be returned. */
  private record Options(boolean length, boolean matches, long least, boolean lengths) {
    static Options of(List<byte[]> command) throws CommandException {
      boolean length = false;
      boolean matches = false;
      boolean lengths = false;
      long least = 0;
      for (int i = 3; i < command.size(); i++) {
        switch (Arguments.name(command.get(i))) {
          case "len" -> length = true;
          case "idx" -> matches = true;
          case "withmatchlen" -> lengths = true;
          case "minmatchlen" -> {
            if (++i == command.size()) {
              throw new CommandException(CommandException.SYNTAX);
            }
            least = Math.max(0, Arguments.integer(command.get(i)));
          }
          default -> throw new CommandException(CommandException.SYNTAX);
        }
      }
      if (length && matches) {
        throw new CommandException(
            "ERR If you want both the length and indexes, please just use IDX.");
      }
      return new Options(length, matches, least, lengths);
    }
  }

  private Subsequence() {}

  static void lcs(List<byte[]> command, LookupRound round) throws CommandException {
    Options options = Options.of(command);
    round.begin();
    round.add(command.get(1), (found, out) -> found.kept = string(found));
    round.add(command.get(2), (found, out) -> answer(found.kept, string(found), options, out));
  }

  private static byte[] string(Found found) throws CommandException {
    if (found.isPresent() && !found.isString()) {
      throw new CommandException(STRINGS);
    }
    if (found.length > MOST_PAIRS) {
      throw tooLong();
    }
    int length = Math.max(0, found.length);
    return Arrays.copyOfRange(found.bytes, found.offset, found.offset + length);
  }

  private static CommandException tooLong() {
    return new CommandException(
        "ERR the product of the lengths of the strings is more than " + MOST_PAIRS);
  }

  private static void answer(byte[] a, byte[] b, Options options, ReplyWriter out)
      throws CommandException {
    int width = b.length + 1;
    if ((a.length + 1L) * width > MOST_PAIRS) {
      throw tooLong();
    }
    int[] longest = new int[(a.length + 1) * width]; // of each two beginnings
    for (int i = 1; i <= a.length; i++) {
      for (int j = 1; j <= b.length; j++) {
        int at = i * width + j;
        longest[at] =
            a[i - 1] == b[j - 1]
                ? longest[at - width - 1] + 1
                : Math.max(longest[at - width], longest[at - 1]);
      }
    }
    int left = longest[longest.length - 1];
    if (options.length) {
      out.integer(left);
      return;
    }
    byte[] common = new byte[left];
    List<Match> matches = new ArrayList<>(); // from the last to the first
    for (int i = a.length, j = b.length; left > 0; ) {
      int at = i * width + j;
      int end = i;
      while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
        common[--left] = a[--i];
        j--;
      }
      if (i < end) {
        matches.add(new Match(i, j, end - i));
      } else if (longest[at - width] > longest[at - 1]) {
        i--;
      } else {
        j--;
      }
    }
    if (options.matches) {
      matches.removeIf(match -> match.length < options.least);
      write(matches, common.length, options.lengths, out);
    } else {
      out.bulk(common);
    }
  }

  /** Bytes that follow each other in both strings. */
  private record Match(int inFirst, int inSecond, int length) {}

  private static void write(List<Match> matches, int length, boolean lengths, ReplyWriter out) {
    out.map(2);
    out.bulk("matches");
    out.array(matches.size());
    for (Match match : matches) {
      out.array(lengths ? 3 : 2);
      for (int begin : new int[] {match.inFirst, match.inSecond}) {
        out.array(2);
        out.integer(begin);
        out.integer(begin + match.length - 1L);
      }
      if (lengths) {
        out.integer(match.length);
      }
    }
    out.entry("len", length);
  }
}

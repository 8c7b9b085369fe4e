package tech.bsdb.tools.serve.resp;

import java.util.Arrays;

/** {@code LCS}: the longest common subsequence of two strings. */
final class Subsequence {
  /** The most pairs of bytes that are compared, each of which takes 4 bytes of memory. */
  private static final long MOST_PAIRS = 1 << 20;

  private static final String STRINGS = "ERR The specified keys must contain string values";

  /** What is to be returned. */
  private record Options(boolean length, boolean matches, long least, boolean lengths) {
    static Options of(Arguments command) throws CommandException {
      boolean length = false;
      boolean matches = false;
      boolean lengths = false;
      long least = 0;
      for (int i = 3; i < command.count(); i++) {
        switch (Arguments.name(command.argument(i))) {
          case "len" -> length = true;
          case "idx" -> matches = true;
          case "withmatchlen" -> lengths = true;
          case "minmatchlen" -> {
            if (++i == command.count()) {
              throw new CommandException(CommandException.SYNTAX);
            }
            least = Math.max(0, Arguments.integer(command.argument(i)));
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

  static void lcs(Arguments command, LookupRound round) throws CommandException {
    Options options = Options.of(command);
    round.begin();
    round.add(command.argument(1), (found, out) -> found.keep(string(found)));
    round.add(
        command.argument(2), (found, out) -> answer(found.kept(), string(found), options, out));
  }

  private static byte[] string(Found found) throws CommandException {
    if (found.isPresent() && !found.isString()) {
      throw new CommandException(STRINGS);
    }
    if (found.length() > MOST_PAIRS) {
      throw tooLong();
    }
    int length = Math.max(0, found.length());
    return Arrays.copyOfRange(found.bytes(), found.offset(), found.offset() + length);
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
    int length = longest[longest.length - 1];
    if (options.length) {
      out.integer(length);
    } else if (options.matches) {
      writeMatches(a, b, longest, options, out);
    } else {
      byte[] common = new byte[length];
      walk(a, b, longest, (i, j, left) -> common[left] = a[i]);
      out.bulk(common);
    }
  }

  /** Receives a pair of equal bytes, from the last to the first. */
  @FunctionalInterface
  private interface Pair {
    /**
     * Takes a pair.
     *
     * @param left how many pairs follow
     */
    void take(int i, int j, int left);
  }

  private static void walk(byte[] a, byte[] b, int[] longest, Pair pairs) {
    int width = b.length + 1;
    int i = a.length;
    int j = b.length;
    while (i > 0 && j > 0) {
      int at = i * width + j;
      if (a[i - 1] == b[j - 1]) {
        pairs.take(i - 1, j - 1, longest[at] - 1);
        i--;
        j--;
      } else if (longest[at - width] > longest[at - 1]) {
        i--;
      } else {
        j--;
      }
    }
  }

  /** Writes the ranges of both strings that match, from the last to the first. */
  private static void writeMatches(
      byte[] a, byte[] b, int[] longest, Options options, ReplyWriter out) {
    int length = longest[longest.length - 1];
    int[] firsts = new int[length];
    int[] seconds = new int[length];
    walk(
        a,
        b,
        longest,
        (i, j, left) -> {
          firsts[left] = i;
          seconds[left] = j;
        });
    int[] begins = new int[length];
    int ranges = 0;
    for (int end = length; end > 0; ) {
      int begin = begin(firsts, seconds, end);
      if (end - begin >= options.least) {
        begins[ranges++] = begin;
      }
      end = begin;
    }
    out.map(2);
    out.bulk("matches");
    out.array(ranges);
    for (int range = 0; range < ranges; range++) {
      int begin = begins[range];
      int size = 1;
      while (begin + size < length && follows(firsts, seconds, begin + size)) {
        size++;
      }
      out.array(options.lengths ? 3 : 2);
      for (int[] each : new int[][] {firsts, seconds}) {
        out.array(2);
        out.integer(each[begin]);
        out.integer(each[begin] + size - 1L);
      }
      if (options.lengths) {
        out.integer(size);
      }
    }
    out.entry("len", length);
  }

  /** Returns where the range of pairs begins that ends before one. */
  private static int begin(int[] firsts, int[] seconds, int end) {
    int begin = end - 1;
    while (begin > 0 && follows(firsts, seconds, begin)) {
      begin--;
    }
    return begin;
  }

  /** Whether a pair is next to the one before it in both strings. */
  private static boolean follows(int[] firsts, int[] seconds, int pair) {
    return firsts[pair] == firsts[pair - 1] + 1 && seconds[pair] == seconds[pair - 1] + 1;
  }
}

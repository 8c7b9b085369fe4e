package tech.bsdb.tools.cli;

import java.util.Collection;
import java.util.Optional;

/** Guesses which existing name the user meant. */
public final class NearestName {
  private NearestName() {}

  /**
   * The name with the fewest changed, added, dropped or swapped letters, if they are at most a
   * third of what was typed; otherwise the shortest name that begins with what was typed. Fewer
   * than three letters are not enough to guess from.
   */
  public static Optional<String> to(String typed, Collection<String> names) {
    if (typed.length() < 3) {
      return Optional.empty();
    }
    String best = null;
    int least = typed.length() / 3 + 1;
    for (String name : names) {
      int distance = distance(typed, name);
      if (distance < least) {
        least = distance;
        best = name;
      }
    }
    if (best == null) {
      for (String name : names) {
        if (name.startsWith(typed) && (best == null || name.length() < best.length())) {
          best = name;
        }
      }
    }
    return Optional.ofNullable(best);
  }

  /** Optimal string alignment distance, by rows. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + change);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}

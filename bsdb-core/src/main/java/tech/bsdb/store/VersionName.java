package tech.bsdb.store;

import java.math.BigInteger;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.function.Predicate;
import tech.bsdb.transfer.Shipment;

/**
 * Version names: 1 to 100 of the characters {@code A-Z a-z 0-9 . _ -}, not starting with {@code .}
 * or {@code -}, and not {@code CURRENT}.
 */
public final class VersionName {
  private static final int MAX_LENGTH = 100;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  /**
   * Natural order: runs of digits compare as numbers, everything else by character: {@code v9}
   * before {@code v10}.
   */
  public static final Comparator<String> NATURAL = VersionName::compare;

  private VersionName() {}

  /** Whether a version can have this name. */
  public static boolean isValid(String name) {
    return Shipment.isVersionName(name);
  }

  /** Returns a valid name, or throws {@link IllegalArgumentException}. */
  public static String checked(String name) {
    if (!isValid(name)) {
      throw new IllegalArgumentException(
          "version name \""
              + name
              + "\" is invalid; use 1 to "
              + MAX_LENGTH
              + " of the characters A-Z a-z 0-9 . _ -, not starting with . or -, and not "
              + Pointer.FILE);
    }
    return name;
  }

  /** The name of a version that is published at some time, such as {@code 20261121T151400Z}. */
  public static String ofTime(Instant time) {
    return TIME.format(time);
  }

  /** Returns a name or, if it is taken, the first free one of it with {@code -2} and so on. */
  public static String free(String name, Predicate<String> taken) {
    String free = name;
    for (int i = 2; taken.test(free); i++) {
      free = name + "-" + i;
    }
    return free;
  }

  private static int compare(String a, String b) {
    int i = 0;
    int j = 0;
    while (i < a.length() && j < b.length()) {
      int order;
      if (isDigit(a.charAt(i)) && isDigit(b.charAt(j))) {
        int endOfA = endOfDigits(a, i);
        int endOfB = endOfDigits(b, j);
        BigInteger number = new BigInteger(a.substring(i, endOfA));
        order = number.compareTo(new BigInteger(b.substring(j, endOfB)));
        i = endOfA;
        j = endOfB;
      } else {
        order = Character.compare(a.charAt(i++), b.charAt(j++));
      }
      if (order != 0) {
        return order;
      }
    }
    int rest = Integer.compare(a.length() - i, b.length() - j);
    return rest != 0 ? rest : a.compareTo(b);
  }

  private static int endOfDigits(String name, int from) {
    int end = from;
    while (end < name.length() && isDigit(name.charAt(end))) {
      end++;
    }
    return end;
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }
}

package tech.bsdb.format;

import java.util.ArrayList;
import java.util.List;

/** Numbers of shards as text: {@code 0-15,18} (FORMAT.md §14). */
public final class ShardRanges {
  private ShardRanges() {}

  /**
   * The text of some numbers: ranges in ascending order, each as long as can be.
   *
   * @param numbers ascending, each once
   */
  public static String text(List<Integer> numbers) {
    StringBuilder text = new StringBuilder();
    int at = 0;
    while (at < numbers.size()) {
      int first = numbers.get(at);
      int last = first;
      for (at++; at < numbers.size() && numbers.get(at) == last + 1; at++) {
        last++;
      }
      text.append(text.isEmpty() ? "" : ",").append(first);
      if (last > first) {
        text.append('-').append(last);
      }
    }
    return text.toString();
  }

  /**
   * Reads what {@link #text} writes.
   *
   * @param shards numbers are less than this
   * @return the numbers, ascending
   * @throws IllegalArgumentException if the text is anything else
   */
  static List<Integer> parse(String text, int shards) {
    List<Integer> numbers = new ArrayList<>();
    int least = 0;
    for (String range : text.split(",", -1)) {
      int hyphen = range.indexOf('-');
      int first = Integer.parseInt(hyphen < 0 ? range : range.substring(0, hyphen));
      int last = hyphen < 0 ? first : Integer.parseInt(range.substring(hyphen + 1));
      if (first < least || last < first || last >= shards) {
        throw notRanges(text, shards);
      }
      for (int number = first; number <= last; number++) {
        numbers.add(number);
      }
      least = last + 1;
    }
    if (!text.equals(text(numbers))) {
      throw notRanges(text, shards);
    }
    return numbers;
  }

  private static IllegalArgumentException notRanges(String text, int shards) {
    return new IllegalArgumentException(
        "\"" + text + "\" does not state shards of 0 to " + (shards - 1) + " in ascending ranges");
  }
}

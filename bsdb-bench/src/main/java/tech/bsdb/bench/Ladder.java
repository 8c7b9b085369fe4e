package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** Options that take one number, or several to measure in turn: {@code 1,2,4}. */
final class Ladder {
  private Ladder() {}

  /**
   * Returns the numbers of an option, in the given order.
   *
   * @throws UsageException if one is not a number, not from 1 to {@code most}, or given twice
   */
  static List<Integer> of(Arguments arguments, String option, int most, int otherwise)
      throws UsageException {
    Optional<String> value = arguments.text(option);
    if (value.isEmpty()) {
      return List.of(otherwise);
    }
    List<Integer> numbers = new ArrayList<>();
    for (String word : value.get().split(",", -1)) {
      int number;
      try {
        number = Integer.parseInt(word.strip());
      } catch (NumberFormatException notANumber) {
        number = 0;
      }
      if (number < 1 || number > most || numbers.contains(number)) {
        throw new UsageException(
            option
                + " takes a whole number from 1 to "
                + most
                + ", or several different ones separated by commas, not \""
                + value.get()
                + "\"");
      }
      numbers.add(number);
    }
    return List.copyOf(numbers);
  }

  /** Returns 1, 2, 4 and so on up to {@code last}, which is always included. */
  static List<Integer> upTo(int last) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 1; number < last; number *= 2) {
      numbers.add(number);
    }
    numbers.add(last);
    return List.copyOf(numbers);
  }
}

package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** Options that take one number, or several to be measured one after another: {@code 1,2,4}. */
final class Ladder {
  private Ladder() {}

  /**
   * The numbers of an option, as they stand.
   *
   * @throws UsageException if one is no number, not in 1 to {@code most}, or given twice
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
                + ", or several different ones with commas between them, not \""
                + value.get()
                + "\"");
      }
      numbers.add(number);
    }
    return List.copyOf(numbers);
  }

  /** 1, 2, 4 and so on, and at the end the last. */
  static List<Integer> upTo(int last) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 1; number < last; number *= 2) {
      numbers.add(number);
    }
    numbers.add(last);
    return List.copyOf(numbers);
  }
}

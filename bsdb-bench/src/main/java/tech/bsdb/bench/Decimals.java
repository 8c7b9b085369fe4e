package tech.bsdb.bench;

import java.util.Optional;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** Options whose values are decimal numbers. */
final class Decimals {
  private Decimals() {}

  /**
   * Returns the value of an option.
   *
   * @throws UsageException if it is not a number from {@code least} to {@code most}
   */
  static double of(Arguments arguments, String option, double least, double most, double otherwise)
      throws UsageException {
    Optional<String> value = arguments.text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      double number = Double.parseDouble(value.get());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // reported below, with the range
    }
    throw new UsageException(
        option
            + " takes a number from "
            + plain(least)
            + " to "
            + plain(most)
            + ", not \""
            + value.get()
            + "\"");
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? String.valueOf((long) number) : String.valueOf(number);
  }
}

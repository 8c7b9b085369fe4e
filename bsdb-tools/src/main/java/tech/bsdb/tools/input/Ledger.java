package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Accounts for every line or row, piece by piece in the order of the input, and knows where each
 * record is from. For use by one thread.
 */
public final class Ledger {
  private final List<String> files;
  private final String unit;
  private final List<String> reasons;
  private final Places places = new Places(Places.MOST_RUNS);
  private final Map<String, Long> rejectedByReason = new TreeMap<>();
  private int file = -1;
  private long unitsOfFile;
  private long units;
  private long records;
  private long rejected;
  private long leftOut;

  /**
   * Creates an empty ledger.
   *
   * @param files the names of the files
   * @param unit what a place has between the file and the number of the line or row
   * @param reasons the reasons to report first, in this order; others follow in alphabetical order
   */
  public Ledger(List<String> files, String unit, List<String> reasons) {
    this.files = files;
    this.unit = unit;
    this.reasons = reasons;
  }

  /**
   * Enters the next piece of the input.
   *
   * @param number that of its file
   * @param rejects receives what is not a record, or null
   * @throws BadInputException for the first line or row that stops the reading
   */
  void enter(int number, Parsed parsed, @Nullable Rejects rejects) throws IOException {
    if (number != file) {
      file = number;
      unitsOfFile = 0;
    }
    for (Parsed.Bad bad : parsed.bad) {
      enterBad(bad, rejects);
    }
    places.addAll(parsed.places, records, file, unitsOfFile);
    records += parsed.places.records();
    unitsOfFile += parsed.units;
    units += parsed.units;
    leftOut += parsed.leftOut;
  }

  private void enterBad(Parsed.Bad bad, @Nullable Rejects rejects) throws IOException {
    Parsed.Reason reason = bad.reason();
    long number = unitsOfFile + bad.unit() + 1;
    String place = place(file, number);
    if (rejects != null) {
      byte[] text = bad.text();
      if (text == null) {
        rejects.write(place, reason.message());
      } else {
        rejects.write(place, reason.message(), text, bad.from(), bad.to());
      }
    }
    if (reason.stops()) {
      throw new BadInputException(files.get(file), number, place, reason.message(), reason.tip());
    }
    rejectedByReason.merge(reason.label(), 1L, Long::sum);
    rejected++;
  }

  private String place(int file, long number) {
    return files.get(file) + unit + number;
  }

  /** The place of a record, or null if it is not known. */
  @Nullable String place(long record) {
    Places.Place place = places.of(record);
    return place == null ? null : place(place.file(), place.line());
  }

  /** The number of records entered so far. */
  public long records() {
    return records;
  }

  /** The number of lines or rows so far that are not wanted. */
  public long leftOut() {
    return leftOut;
  }

  /**
   * The totals of all that was entered so far.
   *
   * @param bytes the bytes read
   */
  public InputReport report(long bytes) {
    Map<String, Long> byReason = new LinkedHashMap<>();
    for (String reason : reasons) {
      rejectedByReason.computeIfPresent(
          reason,
          (label, count) -> {
            byReason.put(label, count);
            return count;
          });
    }
    rejectedByReason.forEach(byReason::putIfAbsent);
    return new InputReport(units, records, byReason, rejected, bytes);
  }
}

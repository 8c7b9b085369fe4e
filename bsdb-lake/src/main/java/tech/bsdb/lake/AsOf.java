package tech.bsdb.lake;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.OptionalLong;

/** The version of a table that a user asks for: a number, a time, or a name. Immutable. */
public record AsOf(String text) {
  /** Returns the number, if it is one. */
  public OptionalLong number() {
    try {
      return text.matches("\\d+") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    } catch (NumberFormatException tooLong) {
      return OptionalLong.empty();
    }
  }

  /**
   * Returns the time, if it is one; without a time zone it is in UTC, and a date is its midnight.
   */
  public Optional<Instant> time() {
    String iso = text.strip().replace(' ', 'T');
    try {
      if (iso.matches("\\d{4}-\\d\\d-\\d\\d")) {
        return Optional.of(LocalDate.parse(iso).atStartOfDay().toInstant(ZoneOffset.UTC));
      }
      return Optional.of(
          iso.matches(".*T.*(Z|[+-]\\d\\d(:?\\d\\d)?)")
              ? OffsetDateTime.parse(iso.replaceFirst("([+-]\\d\\d)(\\d\\d)?$", "$1:$2"))
                  .toInstant()
              : LocalDateTime.parse(iso).toInstant(ZoneOffset.UTC));
    } catch (DateTimeException notOne) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return "--as-of " + text;
  }
}

package tech.bsdb.remote;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.BusyException;
import tech.bsdb.transfer.RefusedException;

/**
 * What the head of an answer says.
 *
 * @param location the file, for messages
 */
record HttpAnswer(String location, int status, HttpHeaders headers) {
  private static final Set<Integer> BUSY = Set.of(408, 429, 500, 502, 503, 504);
  private static final Pattern RANGE =
      Pattern.compile("bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18}|\\*)");

  /** The longest wait that a server can ask for. */
  private static final Duration MOST = Duration.ofDays(1);

  private static final String OPEN = " while the database was open; open it again, and ";

  static HttpAnswer of(String location, ResponseInfo info) {
    return new HttpAnswer(location, info.statusCode(), info.headers());
  }

  /** The part of a file that an answer states to hold; a length of -1 is unknown. */
  record Part(long first, long last, long size) {}

  /** What tells one content of a file from another, as far as the server says it. */
  record Version(@Nullable String tag, @Nullable String modified) {
    boolean differs(Version other) {
      return tag != null && other.tag != null
          ? !tag.equals(other.tag)
          : modified != null && other.modified != null && !modified.equals(other.modified);
    }
  }

  Version version() {
    return new Version(
        headers.firstValue("ETag").orElse(null), headers.firstValue("Last-Modified").orElse(null));
  }

  /** Whether the body is the file, or a part of it, and not a text that explains a failure. */
  boolean isContent() {
    return status == 200 || status == 206;
  }

  /**
   * Why the answer is not the range that was asked for; null if it is.
   *
   * @param known the version of the file that earlier answers had; null before the first
   */
  @Nullable IOException problemWithRange(
      long size, long from, int length, @Nullable Version known) {
    if (status == 416) {
      return cutShort("it has no byte " + from);
    }
    if (status == 412) {
      return replaced();
    }
    if (status == 200) {
      return ignoresRanges();
    }
    if (status != 206) {
      return failure(known != null);
    }
    if (known != null && known.differs(version())) {
      return replaced();
    }
    String coding = coding();
    if (coding != null) {
      return new RefusedException("the server compresses ranges (" + coding + ")");
    }
    return problemWithPart(size, from, length);
  }

  private @Nullable IOException problemWithPart(long size, long from, int length) {
    Part part = part();
    if (part == null) {
      return new RefusedException(
          "the server does not say which range it answers with: Content-Range is "
              + headers.firstValue("Content-Range").orElse("missing"));
    }
    if (part.size >= 0 && part.size < size) {
      return cutShort("it has " + part.size + " of " + size + " bytes");
    }
    if (part.size > size) {
      return replaced();
    }
    long last = from + length - 1;
    if (part.first != from || part.last != last) {
      return new RefusedException(
          "the server answered with bytes "
              + (part.first + "-" + part.last)
              + " instead of "
              + (from + "-" + last));
    }
    long stated = headers.firstValueAsLong("Content-Length").orElse(length);
    return stated == length
        ? null
        : new RefusedException("the server sends " + stated + " bytes instead of " + length);
  }

  /** Why the answer is not the file from a byte on; null if it is. */
  @Nullable IOException problemWithRest(long from) {
    if (status == 200 && from > 0) {
      return ignoresRanges();
    }
    if (!isContent()) {
      return failure(false);
    }
    String coding = coding();
    if (coding != null) {
      return new RefusedException("the server compresses the file (" + coding + ")");
    }
    Part part = part();
    return from == 0 || part != null && part.first == from
        ? null
        : new RefusedException("the server does not answer from byte " + from + " on");
  }

  private IOException failure(boolean wasThere) {
    return switch (status) {
      case 404, 410 ->
          new NoSuchFileException(location, null, wasThere ? removed() : "there is no such file");
      case 401, 403 ->
          new AccessDeniedException(location, null, "the server denies access (" + status + ")");
      default ->
          BUSY.contains(status)
              ? new BusyException("the server answered " + status, retryAfter())
              : new RefusedException("the server answered " + status);
    };
  }

  private static String removed() {
    return "it was removed" + OPEN + "remove versions only once nobody reads them";
  }

  private static RefusedException ignoresRanges() {
    return new RefusedException(
        "the server ignores ranges: it would send the whole file; use one that serves ranges");
  }

  private ChangedException replaced() {
    return new ChangedException(
        location + ": it was replaced" + OPEN + "publish new versions under new names");
  }

  private ChangedException cutShort(String how) {
    return new ChangedException(
        location + ": it was cut short: " + how + "; publish the database again");
  }

  private @Nullable String coding() {
    return headers
        .firstValue("Content-Encoding")
        .filter(coding -> !coding.isBlank() && !coding.equalsIgnoreCase("identity"))
        .orElse(null);
  }

  private @Nullable Part part() {
    Matcher stated = RANGE.matcher(headers.firstValue("Content-Range").orElse(""));
    if (!stated.matches()) {
      return null;
    }
    String size = Objects.requireNonNull(stated.group(3));
    return new Part(
        Long.parseLong(Objects.requireNonNull(stated.group(1))),
        Long.parseLong(Objects.requireNonNull(stated.group(2))),
        size.equals("*") ? -1 : Long.parseLong(size));
  }

  /** How long the server asks to wait: seconds or a date; zero if it does not say. */
  private Duration retryAfter() {
    String text = headers.firstValue("Retry-After").orElse("0").strip();
    try {
      if (text.matches("\\d{1,9}")) {
        return Duration.ofSeconds(Long.parseLong(text));
      }
      ZonedDateTime date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      Duration wait = Duration.between(Instant.now(), date.toInstant());
      return wait.isNegative() ? Duration.ZERO : wait.compareTo(MOST) < 0 ? wait : MOST;
    } catch (DateTimeParseException e) {
      return Duration.ZERO; // a hint that cannot be read is none
    }
  }
}

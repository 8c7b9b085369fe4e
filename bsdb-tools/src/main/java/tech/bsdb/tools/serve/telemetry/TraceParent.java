package tech.bsdb.tools.serve.telemetry;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The header {@code traceparent} (W3C Trace Context, section 3.2). */
public final class TraceParent {
  /** The header's name. */
  public static final String NAME = "traceparent";

  /** Version, trace id, parent id and flags; versions after the first may append more. */
  private static final Pattern FORM =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?");

  private static final String NO_TRACE = "0".repeat(32);
  private static final String NO_PARENT = "0".repeat(16);

  private TraceParent() {}

  /**
   * Returns the trace id.
   *
   * @param values the headers of that name in a request
   * @return empty if there is none, more than one, or one that is malformed, which the standard
   *     requires to be ignored
   */
  public static String traceId(List<String> values) {
    if (values.size() != 1) {
      return "";
    }
    Matcher parts = FORM.matcher(values.get(0));
    boolean valid =
        parts.matches()
            && !parts.group(1).equals("ff")
            && !(parts.group(1).equals("00") && parts.group(4) != null)
            && !parts.group(2).equals(NO_TRACE)
            && !parts.group(3).equals(NO_PARENT);
    return valid ? parts.group(2) : "";
  }
}

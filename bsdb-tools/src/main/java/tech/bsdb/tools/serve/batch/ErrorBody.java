package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import tech.bsdb.tools.text.JsonBuffer;

/** The body of an error answer. */
public final class ErrorBody {
  private ErrorBody() {}

  /** {@code {"error":{"status":404,"message":"..."}}} and a newline, in UTF-8. */
  public static byte[] json(int status, String message) {
    return json(status, message, Map.of());
  }

  /**
   * The same with further members of the error, all of them strings.
   *
   * @param details the members by name, in their order
   */
  public static byte[] json(int status, String message, Map<String, String> details) {
    JsonBuffer out = new JsonBuffer();
    out.put(("{\"error\":{\"status\":" + status + ",\"message\":").getBytes(UTF_8));
    putString(message, out);
    details.forEach(
        (name, value) -> {
          out.put(',');
          putString(name, out);
          out.put(':');
          putString(value, out);
        });
    out.put("}}\n".getBytes(UTF_8));
    return out.copy();
  }

  private static void putString(String text, JsonBuffer out) {
    byte[] bytes = text.getBytes(UTF_8);
    out.putString(bytes, 0, bytes.length);
  }
}

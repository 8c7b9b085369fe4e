package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;

import tech.bsdb.tools.text.JsonBuffer;

/** The body of an error answer. */
public final class ErrorBody {
  private ErrorBody() {}

  /** {@code {"error":{"status":404,"message":"..."}}} and a newline, in UTF-8. */
  public static byte[] json(int status, String message) {
    JsonBuffer out = new JsonBuffer();
    out.put(("{\"error\":{\"status\":" + status + ",\"message\":").getBytes(UTF_8));
    byte[] text = message.getBytes(UTF_8);
    out.putString(text, 0, text.length);
    out.put("}}\n".getBytes(UTF_8));
    return out.copy();
  }
}

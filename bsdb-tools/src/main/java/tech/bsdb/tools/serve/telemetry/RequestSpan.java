package tech.bsdb.tools.serve.telemetry;

/**
 * What is recorded of one request. It is ended exactly once, whether the request was answered or
 * not. Thread-safe.
 */
public interface RequestSpan {
  /** Records nothing. */
  RequestSpan NONE =
      new RequestSpan() {
        @Override
        public String traceId() {
          return "";
        }

        @Override
        public void failed(Throwable cause) {}

        @Override
        public void answered(int status, long nanos, Lookup lookup) {}

        @Override
        public void abandoned(long nanos) {}
      };

  /**
   * What a request looked up.
   *
   * @param version the version that answered; empty for none
   * @param found the number of keys found
   * @param absent the number of keys looked up and not found
   */
  record Lookup(String version, long found, long absent) {}

  /** Returns the id of the trace, 32 hexadecimal digits; empty for none. */
  String traceId();

  /** Called before the end if the server failed. */
  void failed(Throwable cause);

  /** Called when the request was answered, after so many nanoseconds. */
  void answered(int status, long nanos, Lookup lookup);

  /** Called when the connection ended before the answer was complete. */
  void abandoned(long nanos);
}

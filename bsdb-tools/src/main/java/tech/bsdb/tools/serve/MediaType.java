package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** What a body is, as the line of its head says it. */
enum MediaType {
  BYTES("application/octet-stream"),
  JSON("application/json"),
  JSON_LINES("application/x-ndjson"),
  FRAMES("application/vnd.bsdb.frames"),
  HTML("text/html; charset=utf-8"),
  YAML("application/yaml"),
  METRICS("text/plain; version=0.0.4; charset=utf-8"),
  OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

  @SuppressWarnings("ImmutableEnumChecker") // an array, so that writing it costs nothing
  private final byte[] line;

  MediaType(String name) {
    this.line = ("content-type: " + name + "\r\n").getBytes(ISO_8859_1);
  }

  /** The header line, ended with CRLF; not to be changed. */
  byte[] line() {
    return line;
  }
}

package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** The media type of a body, as a header line. */
enum MediaType {
  BYTES("application/octet-stream"),
  JSON("application/json"),
  JSON_LINES("application/x-ndjson"),
  FRAMES("application/vnd.bsdb.frames"),
  HTML("text/html; charset=utf-8"),
  YAML("application/yaml"),
  METRICS("text/plain; version=0.0.4; charset=utf-8"),
  OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

  @SuppressWarnings("ImmutableEnumChecker") // an array, so that writing it needs no encoding
  private final byte[] line;

  MediaType(String name) {
    this.line = ("content-type: " + name + "\r\n").getBytes(ISO_8859_1);
  }

  /** Returns the header line, ending in CRLF; do not modify it. */
  byte[] line() {
    return line;
  }
}

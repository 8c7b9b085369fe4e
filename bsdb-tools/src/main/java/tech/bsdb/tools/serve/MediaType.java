package tech.bsdb.tools.serve;

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

  private final String line;

  MediaType(String name) {
    this.line = "content-type: " + name + "\r\n";
  }

  /** Returns the header line, ending in CRLF. */
  String line() {
    return line;
  }
}

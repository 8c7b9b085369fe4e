package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that sends what it is told, byte for byte, and reads responses one after another. */
final class Wire implements Closeable {
  private final Socket socket;
  private final InputStream in;

  Wire(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(60_000);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  static Wire to(int port) throws IOException {
    return new Wire(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** A response. */
  record Response(int status, Map<String, String> headers, byte[] body) {
    String text() {
      return new String(body, ISO_8859_1);
    }
  }

  Wire send(String latin1) throws IOException {
    return send(latin1.getBytes(ISO_8859_1));
  }

  Wire send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return this;
  }

  void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** A GET, as most clients send it. */
  Response get(String target) throws IOException {
    return send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").read();
  }

  /** A POST of a body. */
  Response post(String target, String headers, byte[] body) throws IOException {
    return send("POST "
            + target
            + " HTTP/1.1\r\nHost: x\r\n"
            + headers
            + "Content-Length: "
            + body.length
            + "\r\n\r\n")
        .send(body)
        .read();
  }

  Response read() throws IOException {
    return read(false);
  }

  /** Reads a response; to a HEAD request, without a body. */
  Response read(boolean head) throws IOException {
    String status = line();
    if (!status.startsWith("HTTP/1.1 ")) {
      throw new IOException("no status line: " + status);
    }
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    int code = Integer.parseInt(status.substring(9, 12));
    byte[] body = head || code == 100 || code == 304 ? new byte[0] : body(headers);
    return new Response(code, headers, body);
  }

  /** Sends a batch and reads nothing. */
  void sendBatch(String headers, byte[] body) throws IOException {
    send("POST /bsdb/ HTTP/1.1\r\nHost: x\r\n" + headers);
    send("Content-Length: " + body.length + "\r\n\r\n").send(body);
  }

  /** Passes over a response's head. */
  void skipHead() throws IOException {
    while (!line().isEmpty()) {
      // the next line
    }
  }

  /** Passes over all that comes; returns how many bytes that were. */
  long skipRest() throws IOException {
    byte[] bytes = new byte[1 << 16];
    long all = 0;
    for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
      all += count;
    }
    return all;
  }

  private byte[] body(Map<String, String> headers) throws IOException {
    if ("chunked".equals(headers.get("transfer-encoding"))) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int size = chunk(); size > 0; size = chunk()) {
        all.write(in.readNBytes(size));
        line();
      }
      line();
      return all.toByteArray();
    }
    if (headers.containsKey("content-length")) {
      int length = Integer.parseInt(headers.get("content-length"));
      byte[] bytes = in.readNBytes(length);
      if (bytes.length < length) {
        throw new EOFException("a body of " + bytes.length + " of " + length + " bytes");
      }
      return bytes;
    }
    return in.readAllBytes();
  }

  private int chunk() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("after \"" + line.toString(ISO_8859_1) + "\"");
      }
      line.write(b);
    }
    String text = line.toString(ISO_8859_1);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }

  /** Whether the server has said all it will say on this connection. */
  boolean ended() throws IOException {
    return in.read() < 0;
  }

  /** Bytes that came, up to the end of the connection. */
  byte[] rest() throws IOException {
    return in.readAllBytes();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

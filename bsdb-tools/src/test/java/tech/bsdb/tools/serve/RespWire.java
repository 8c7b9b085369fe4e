package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;

/** A Redis client that sends bytes as told and reads replies as bytes, one after another. */
final class RespWire implements Closeable {
  private static final int PATIENCE_MILLIS = 30_000;

  private final Socket socket;
  private final InputStream in;

  RespWire(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  static RespWire to(int port) throws IOException {
    return new RespWire(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** A command as an array of bulk strings. */
  static byte[] command(byte[]... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(("*" + arguments.length + "\r\n").getBytes(US_ASCII));
    for (byte[] argument : arguments) {
      out.writeBytes(bulk(argument));
    }
    return out.toByteArray();
  }

  /** A command of texts, each character a byte. */
  static byte[] command(String... arguments) {
    byte[][] bytes = new byte[arguments.length][];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = arguments[i].getBytes(ISO_8859_1);
    }
    return command(bytes);
  }

  /** A bulk string. */
  static byte[] bulk(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length + 16);
    out.writeBytes(("$" + bytes.length + "\r\n").getBytes(US_ASCII));
    out.writeBytes(bytes);
    out.writeBytes(new byte[] {'\r', '\n'});
    return out.toByteArray();
  }

  RespWire send(byte[] bytes) throws IOException {
    return send(bytes, 0, bytes.length);
  }

  RespWire send(byte[] bytes, int from, int count) throws IOException {
    socket.getOutputStream().write(bytes, from, count);
    socket.getOutputStream().flush();
    return this;
  }

  RespWire shutdownOutput() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  /** Sends a command of texts and returns its reply, each byte a character. */
  String ask(String... arguments) throws IOException {
    send(command(arguments));
    return text();
  }

  /** The next reply, each byte a character. */
  String text() throws IOException {
    return new String(reply(), ISO_8859_1);
  }

  /** The bytes of the next reply. */
  byte[] reply() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (long left = 1; left > 0; left--) {
      left += copyOne(out);
    }
    return out.toByteArray();
  }

  /** Copies a reply without its elements; returns how many these are. */
  private long copyOne(ByteArrayOutputStream out) throws IOException {
    String line = line();
    out.writeBytes((line + "\r\n").getBytes(ISO_8859_1));
    char type = line.charAt(0);
    return switch (type) {
      case '+', '-', ':', '_', '#', ',', '(' -> 0;
      case '$', '=' -> {
        int length = Integer.parseInt(line.substring(1));
        if (length >= 0) {
          out.writeBytes(read(length + 2));
        }
        yield 0;
      }
      case '*', '~', '>' -> Math.max(0, Long.parseLong(line.substring(1)));
      case '%' -> 2 * Long.parseLong(line.substring(1));
      default -> throw new IOException("no reply: " + line);
    };
  }

  /** Reads as many bytes as given. */
  byte[] read(int count) throws IOException {
    byte[] bytes = in.readNBytes(count);
    if (bytes.length < count) {
      throw new EOFException(bytes.length + " of " + count + " bytes");
    }
    return bytes;
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
    if (!text.endsWith("\r") || text.length() < 2) {
      throw new IOException("no line of a reply: " + text);
    }
    return text.substring(0, text.length() - 1);
  }

  /** All bytes up to the end of the connection. */
  byte[] rest() throws IOException {
    return in.readAllBytes();
  }

  /** Whether the server has said all it will say on this connection. */
  boolean ended() throws IOException {
    return in.read() < 0;
  }

  /** Whether the server has ended the connection by now, as far as that is known already. */
  boolean isKnownToHaveEnded() throws IOException {
    socket.setSoTimeout(1);
    try {
      in.mark(1);
      int next = in.read();
      in.reset();
      return next < 0;
    } catch (SocketTimeoutException open) {
      return false;
    } finally {
      socket.setSoTimeout(PATIENCE_MILLIS);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

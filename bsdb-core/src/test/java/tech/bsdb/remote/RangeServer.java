package tech.bsdb.remote;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A web server on the loopback interface that serves ranges of the files of a directory by
 * HTTP/1.1, notes what it is asked, and misbehaves as a rule says. Has a thread for each
 * connection.
 */
public final class RangeServer implements AutoCloseable {
  private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d*)");

  private final Path directory;
  private final ServerSocket listener;
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private final List<Thread> threads = new ArrayList<>();
  private final CountDownLatch closing = new CountDownLatch(1);

  private final Object log = new Object(); // guards the fields below
  private final List<Answered> answered = new ArrayList<>();
  private final Map<String, Integer> numbers = new HashMap<>();
  private int requests;
  private int accepted;
  private int atOnce;
  private int mostAtOnce;

  private volatile Rule rule = request -> Fault.none();

  /**
   * What a client asks.
   *
   * @param path decoded, without the slash at its start
   * @param headers by their names in lower case
   * @param number which request this is, from 1
   * @param numberOfPath which request of its path this is, from 1
   */
  public record Request(
      String method, String path, Map<String, String> headers, int number, int numberOfPath) {}

  /**
   * A request that was answered, or was not.
   *
   * @param range the Range header; empty if there was none
   * @param status that of the answer; 0 if there was none
   */
  public record Answered(String method, String path, String range, int status) {}

  /** What goes wrong with a request. */
  @FunctionalInterface
  public interface Rule {
    Fault faultOf(Request request);
  }

  /** Something that goes wrong with an answer; several may. Immutable. */
  public static final class Fault {
    private static final Fault NONE = new Fault(Map.of());

    private enum Kind {
      LATENCY,
      STATUS,
      RETRY_AFTER,
      CUT,
      CLOSE,
      STALL,
      DRIP,
      CONTENT_RANGE,
      WHOLE,
      NO_LENGTH,
      FLIP,
      ETAG,
      MODIFIED,
      SIZE,
      REDIRECT,
      GZIP,
      GARBAGE
    }

    private final Map<Kind, Object> kinds;

    private Fault(Map<Kind, Object> kinds) {
      this.kinds = kinds;
    }

    private Fault and(Kind kind, Object value) {
      Map<Kind, Object> more = new TreeMap<>(kinds);
      more.put(kind, value);
      return new Fault(more);
    }

    private boolean has(Kind kind) {
      return kinds.containsKey(kind);
    }

    private int number(Kind kind) {
      return (Integer) kinds.get(kind);
    }

    private String text(Kind kind) {
      return (String) kinds.get(kind);
    }

    private Duration time(Kind kind) {
      return (Duration) kinds.get(kind);
    }

    /** Nothing. */
    public static Fault none() {
      return NONE;
    }

    /** The answer is late. */
    public Fault late(Duration by) {
      return and(Kind.LATENCY, by);
    }

    /** The answer has that status, and a short text as its body. */
    public Fault status(int status) {
      return and(Kind.STATUS, status);
    }

    /** The answer has that header {@code Retry-After}. */
    public Fault retryAfter(String value) {
      return and(Kind.RETRY_AFTER, value);
    }

    /** The connection ends after so many bytes of the body. */
    public Fault cutAfter(int bytes) {
      return and(Kind.CUT, bytes);
    }

    /** The connection ends instead of an answer. */
    public Fault noAnswer() {
      return and(Kind.CLOSE, true);
    }

    /** Nothing comes after so many bytes of the body; nothing at all if negative. */
    public Fault stalledAfter(int bytes) {
      return and(Kind.STALL, bytes);
    }

    /** Each byte of the body waits so long. */
    public Fault dripping(Duration pause) {
      return and(Kind.DRIP, pause);
    }

    /** The answer has that header {@code Content-Range}; none if empty. */
    public Fault contentRange(String value) {
      return and(Kind.CONTENT_RANGE, value);
    }

    /** The answer to a range is 200 and the whole file. */
    public Fault wholeFile() {
      return and(Kind.WHOLE, true);
    }

    /** The answer has no {@code Content-Length}; the end of the connection is that of the body. */
    public Fault noLength() {
      return and(Kind.NO_LENGTH, true);
    }

    /** That bit of the body is wrong. */
    public Fault flipped(int bit) {
      return and(Kind.FLIP, bit);
    }

    /** The answer has that header {@code ETag}; none if empty. */
    public Fault tag(String value) {
      return and(Kind.ETAG, value);
    }

    /** The answer has that header {@code Last-Modified}. */
    public Fault modified(String value) {
      return and(Kind.MODIFIED, value);
    }

    /** The file has another size, shorter than it is or with zeros at its end. */
    public Fault size(int bytes) {
      return and(Kind.SIZE, bytes);
    }

    /** The answer is 302. */
    public Fault redirect(String location) {
      return and(Kind.REDIRECT, location);
    }

    /** The body is compressed, and the answer says so. */
    public Fault compressed() {
      return and(Kind.GZIP, true);
    }

    /** Something comes that is not HTTP. */
    public Fault garbage() {
      return and(Kind.GARBAGE, true);
    }
  }

  private RangeServer(Path directory, ServerSocket listener) {
    this.directory = directory;
    this.listener = listener;
    start(this::accept, "accept");
  }

  /** Starts a server of that directory on a free port. */
  public static RangeServer of(Path directory) throws IOException {
    return new RangeServer(directory, new ServerSocket(0, 1024, InetAddress.getLoopbackAddress()));
  }

  /** The address of the directory. */
  public URI uri() {
    return URI.create("http://localhost:" + listener.getLocalPort() + "/");
  }

  /** Sets the rule for the requests from now on, which are counted from 1 again. */
  public void rule(Rule next) {
    synchronized (log) {
      requests = 0;
      numbers.clear();
      rule = next;
    }
  }

  /** The requests so far, in the order in which they ended. */
  public List<Answered> answered() {
    synchronized (log) {
      return List.copyOf(answered);
    }
  }

  /** Forgets the requests so far. */
  public void forget() {
    synchronized (log) {
      answered.clear();
      mostAtOnce = atOnce;
    }
  }

  /** How many connections were made. */
  public int connections() {
    synchronized (log) {
      return accepted;
    }
  }

  /** The most requests that were in work at a time. */
  public int mostAtOnce() {
    synchronized (log) {
      return mostAtOnce;
    }
  }

  private void start(Runnable task, String name) {
    Thread thread = new Thread(task, "range-server-" + name);
    thread.setDaemon(true);
    synchronized (threads) {
      threads.add(thread);
    }
    thread.start();
  }

  private void accept() {
    while (closing.getCount() > 0) {
      try {
        Socket connection = listener.accept();
        connections.add(connection);
        synchronized (log) {
          accepted++;
        }
        start(() -> serve(connection), "connection");
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      connection.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(connection.getInputStream());
      OutputStream out = connection.getOutputStream();
      boolean goesOn = true;
      while (goesOn && closing.getCount() > 0) {
        Request request = request(in);
        goesOn = request != null && answer(request, out);
      }
    } catch (IOException e) {
      // the client has gone, or this server is closed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connections.remove(connection);
    }
  }

  private @Nullable Request request(InputStream in) throws IOException {
    String[] first = line(in).split(" ", 3);
    if (first.length != 3) {
      return null;
    }
    Map<String, String> headers = new HashMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    String path =
        URLDecoder.decode(first[1].substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
    synchronized (log) {
      requests++;
      return new Request(first[0], path, headers, requests, numbers.merge(path, 1, Integer::sum));
    }
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      if (next != '\r') {
        line.write(next);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private boolean answer(Request request, OutputStream out)
      throws IOException, InterruptedException {
    synchronized (log) {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    }
    Answer answer = new Answer(request, rule.faultOf(request));
    try {
      return answer.send(out);
    } finally {
      answer.note();
    }
  }

  /** Waits, but not beyond the end of the server. */
  private void pause(Duration time) throws InterruptedException, IOException {
    if (closing.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new IOException("closed");
    }
  }

  /** The answer to a request. */
  private final class Answer {
    private final Request request;
    private final Fault fault;
    private final Map<String, String> headers = new TreeMap<>();
    private byte[] body = {};
    private int status;
    private boolean noted;

    Answer(Request request, Fault fault) {
      this.request = request;
      this.fault = fault;
    }

    /** Notes the end of the request, before a client can know of it. A second call does nothing. */
    void note() {
      synchronized (log) {
        if (!noted) {
          noted = true;
          atOnce--;
          String range = request.headers.getOrDefault("range", "");
          answered.add(new Answered(request.method, request.path, range, status));
        }
      }
    }

    /** Sends the answer; returns whether the connection stays open. */
    boolean send(OutputStream out) throws IOException, InterruptedException {
      if (fault.has(Fault.Kind.LATENCY)) {
        pause(fault.time(Fault.Kind.LATENCY));
      }
      if (fault.has(Fault.Kind.CLOSE)) {
        return false;
      }
      if (fault.has(Fault.Kind.GARBAGE)) {
        out.write("It was a bright cold day in April\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        return false;
      }
      if (fault.has(Fault.Kind.STALL) && fault.number(Fault.Kind.STALL) < 0) {
        pause(Duration.ofDays(1));
      }
      compose();
      note();
      write(out);
      return !fault.has(Fault.Kind.NO_LENGTH) && !fault.has(Fault.Kind.CUT);
    }

    private void compose() throws IOException {
      if (fault.has(Fault.Kind.RETRY_AFTER)) {
        headers.put("Retry-After", fault.text(Fault.Kind.RETRY_AFTER));
      }
      if (fault.has(Fault.Kind.STATUS)) {
        explain(fault.number(Fault.Kind.STATUS));
      } else if (fault.has(Fault.Kind.REDIRECT)) {
        headers.put("Location", fault.text(Fault.Kind.REDIRECT));
        explain(302);
      } else {
        Path file = directory.resolve(request.path).normalize();
        if (file.startsWith(directory) && Files.isRegularFile(file)) {
          content(file);
        } else {
          explain(404);
        }
      }
    }

    private void explain(int code) {
      status = code;
      body = ("status " + code + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private void content(Path file) throws IOException {
      Instant modified = Files.getLastModifiedTime(file).toInstant();
      long size = fault.has(Fault.Kind.SIZE) ? fault.number(Fault.Kind.SIZE) : Files.size(file);
      String tag = '"' + Long.toHexString(modified.toEpochMilli() * 31 + size) + '"';
      if (fault.has(Fault.Kind.ETAG)) {
        tag = fault.text(Fault.Kind.ETAG);
      }
      if (!tag.isEmpty()) {
        headers.put("ETag", tag);
      }
      headers.put(
          "Last-Modified",
          fault.has(Fault.Kind.MODIFIED)
              ? fault.text(Fault.Kind.MODIFIED)
              : DateTimeFormatter.RFC_1123_DATE_TIME.format(modified.atOffset(ZoneOffset.UTC)));
      if (!request.headers.getOrDefault("if-match", tag).equals(tag)) {
        explain(412);
        return;
      }
      Matcher range = RANGE.matcher(request.headers.getOrDefault("range", ""));
      if (!range.matches() || fault.has(Fault.Kind.WHOLE)) {
        status = 200;
        body = bytes(file, 0, (int) size);
      } else {
        part(file, size, range);
      }
      if (fault.has(Fault.Kind.FLIP)) {
        body[fault.number(Fault.Kind.FLIP) / 8] ^= (byte) (1 << fault.number(Fault.Kind.FLIP) % 8);
      }
      if (fault.has(Fault.Kind.GZIP)) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(compressed)) {
          gzip.write(body);
        }
        body = compressed.toByteArray();
        headers.put("Content-Encoding", "gzip");
      }
    }

    private void part(Path file, long size, Matcher range) throws IOException {
      long from = Long.parseLong(range.group(1));
      String end = range.group(2);
      long last = end.isEmpty() ? size - 1 : Math.min(size - 1, Long.parseLong(end));
      if (from >= size) {
        headers.put("Content-Range", "bytes */" + size);
        explain(416);
        return;
      }
      status = 206;
      body = bytes(file, from, (int) (last - from + 1));
      String stated =
          fault.has(Fault.Kind.CONTENT_RANGE)
              ? fault.text(Fault.Kind.CONTENT_RANGE)
              : "bytes " + from + "-" + last + "/" + size;
      if (!stated.isEmpty()) {
        headers.put("Content-Range", stated);
      }
    }

    private byte[] bytes(Path file, long from, int length) throws IOException {
      byte[] bytes = new byte[length];
      try (FileChannel channel = FileChannel.open(file)) {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining() && channel.read(rest, from + rest.position()) >= 0) {
          // goes on
        }
      }
      return bytes;
    }

    private void write(OutputStream out) throws IOException, InterruptedException {
      StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Status\r\n");
      if (fault.has(Fault.Kind.NO_LENGTH)) {
        head.append("Connection: close\r\n");
      } else {
        headers.put("Content-Length", Integer.toString(body.length));
      }
      headers.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
      head.append("\r\n");
      byte[] start = head.toString().getBytes(StandardCharsets.UTF_8);
      int sent = request.method.equals("HEAD") ? 0 : body.length;
      if (fault.has(Fault.Kind.DRIP)) {
        out.write(start);
        for (int i = 0; i < sent; i++) {
          pause(fault.time(Fault.Kind.DRIP));
          out.write(body, i, 1);
        }
        return;
      }
      boolean stalls = fault.has(Fault.Kind.STALL);
      int limit =
          stalls
              ? fault.number(Fault.Kind.STALL)
              : fault.has(Fault.Kind.CUT) ? fault.number(Fault.Kind.CUT) : sent;
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(start);
      all.write(body, 0, Math.min(limit, sent));
      all.writeTo(out);
      if (stalls) {
        pause(Duration.ofDays(1));
      }
    }
  }

  /** Ends all connections and threads. */
  @Override
  public void close() throws IOException {
    closing.countDown();
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
    List<Thread> ending;
    synchronized (threads) {
      ending = List.copyOf(threads);
    }
    for (Thread thread : ending) {
      try {
        thread.join(60_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}

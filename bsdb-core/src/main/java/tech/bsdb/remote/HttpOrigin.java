package tech.bsdb.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.HttpAnswer.Version;
import tech.bsdb.transfer.RefusedException;

/**
 * A directory on a web server that serves ranges of files, by HTTP/1.1. Thread-safe.
 *
 * <p>A range must come from the same version of its file as those before it: the {@code ETag}, else
 * {@code Last-Modified}, of each answer is compared with that of the first. Redirects are followed,
 * but not from https to http. The proxy and the trusted certificates are those of the JVM.
 *
 * <p>There is nothing to close. The connections and threads end once the garbage collector finds
 * that the object is no longer in use.
 */
public final class HttpOrigin implements RangeOrigin {
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** How long a file that is read as a stream may send nothing. */
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

  private static final Duration IDLE = Duration.ofSeconds(10);
  private static final String UNRESERVED = "-._~";

  private final HttpClient client;
  private final ConcurrentMap<String, Version> versions = new ConcurrentHashMap<>();
  private final String base; // ends in a slash

  private HttpOrigin(HttpClient client, String base) {
    this.client = client;
    this.base = base;
  }

  private static HttpClient client() {
    return HttpClient.newBuilder()
        .executor(threads())
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NORMAL)
        .connectTimeout(CONNECT)
        .build();
  }

  /** Shares the connections. */
  @Override
  public RangeOrigin afresh() {
    return new HttpOrigin(client, base);
  }

  /**
   * A few threads to work on answers, none of which waits for anything; the client's own pool has
   * one for each answer, and needs a third more processor time. They end when they are idle.
   */
  private static Executor threads() {
    int count = Math.max(2, Math.min(8, Runtime.getRuntime().availableProcessors()));
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE.toSeconds(),
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "http-origin");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * The directory at an address.
   *
   * @param base such as {@code https://host/data/users}; the slash at its end may be missing
   * @throws IllegalArgumentException if it is not an http or https address of a host, or has a
   *     user, a query or a fragment
   */
  public static HttpOrigin of(URI base) {
    String scheme = base.getScheme() == null ? "" : base.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https") || base.getHost() == null) {
      throw new IllegalArgumentException(
          "the address of a web server must start with http://HOST or https://HOST");
    }
    if (base.getRawUserInfo() != null
        || base.getRawQuery() != null
        || base.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "the address on " + base.getHost() + " must have no user, query or fragment");
    }
    if (base.getPort() == 0 || base.getPort() > 65_535) {
      throw new IllegalArgumentException("there is no port " + base.getPort());
    }
    String text = base.toASCIIString().replaceFirst("/*$", "/");
    return new HttpOrigin(client(), text);
  }

  @Override
  public String location(String file) {
    return file.isEmpty() ? base.substring(0, base.length() - 1) : base + file;
  }

  @Override
  public String reason(IOException failure) {
    if (failure instanceof FileSystemException known && known.getReason() != null) {
      return known.getReason();
    }
    String host = URI.create(base).getAuthority();
    if (failure instanceof SSLException) {
      return "no secure connection to " + host + ": " + failure.getMessage();
    }
    if (failure instanceof HttpConnectTimeoutException) {
      return "cannot connect to " + host + ": no answer";
    }
    if (failure instanceof ConnectException) {
      for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
        if (cause instanceof UnresolvedAddressException) {
          return "there is no host " + host;
        }
      }
      return "cannot connect to " + host;
    }
    return RangeOrigin.super.reason(failure);
  }

  private HttpRequest.Builder request(String file) {
    StringBuilder address = new StringBuilder(base);
    for (byte unit : file.getBytes(StandardCharsets.UTF_8)) {
      boolean plain =
          unit >= 'a' && unit <= 'z'
              || unit >= 'A' && unit <= 'Z'
              || unit >= '0' && unit <= '9'
              || unit == '/'
              || UNRESERVED.indexOf(unit) >= 0;
      if (plain) {
        address.append((char) unit);
      } else {
        address.append('%').append(String.format("%02X", unit));
      }
    }
    return HttpRequest.newBuilder(URI.create(address.toString()))
        .header("Accept-Encoding", "identity");
  }

  @Override
  public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    HttpRequest request =
        request(file).header("Range", "bytes=" + from + "-" + (from + length - 1)).build();
    return client // what is derived from this future cancels the exchange, too
        .sendAsync(request, head -> body(file, size, from, length, head))
        .handle((answer, failure) -> bytes(answer, failure));
  }

  private BodySubscriber<byte[]> body(
      String file, long size, long from, int length, ResponseInfo head) {
    HttpAnswer answer = HttpAnswer.of(location(file), head);
    Version known = versions.get(file);
    IOException problem = answer.problemWithRange(size, from, length, known);
    if (problem == null && known == null) {
      known = versions.putIfAbsent(file, answer.version()); // null unless another came just now
      problem = known == null ? null : answer.problemWithRange(size, from, length, known);
    }
    if (problem == null) {
      return RangeBody.of(length);
    }
    return answer.isContent() ? RangeBody.refused(problem) : RangeBody.explained(problem);
  }

  private static byte[] bytes(@Nullable HttpResponse<byte[]> answer, @Nullable Throwable failure) {
    if (answer != null) {
      return answer.body();
    }
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    throw new CompletionException(isAboutRedirection(cause) ? badRedirection() : cause);
  }

  private static boolean isAboutRedirection(@Nullable Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) {
        return false; // an illegal argument, too, to Java
      }
      if (cause instanceof UncheckedIOException
          || cause instanceof IllegalArgumentException
          || cause instanceof NullPointerException) { // of Java 25, for http:there
        return true;
      }
    }
    return false;
  }

  /** Without the cause: its message may show an address with a query that is a secret. */
  private static RefusedException badRedirection() {
    return new RefusedException("the server redirects to something that is not an address");
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    return open(file, from, () -> PATIENCE);
  }

  @Override
  public InputStream open(String file, long from, LongSupplier leftNanos) throws IOException {
    LongSupplier patience = () -> Math.max(1, Math.min(PATIENCE, leftNanos.getAsLong()));
    HttpRequest.Builder request = request(file).timeout(Duration.ofNanos(patience.getAsLong()));
    if (from > 0) {
      request.header("Range", "bytes=" + from + "-");
    }
    HttpResponse<InputStream> response = send(request.build(), patience);
    HttpAnswer answer = new HttpAnswer(location(file), response.statusCode(), response.headers());
    if (from > 0 && answer.status() == 416) {
      response.body().close();
      return InputStream.nullInputStream(); // the file ends there
    }
    IOException problem = answer.problemWithRest(from);
    if (problem != null) {
      response.body().close();
      throw problem;
    }
    return response.body();
  }

  private HttpResponse<InputStream> send(HttpRequest request, LongSupplier patience)
      throws IOException {
    try {
      return client.send(request, head -> new BodyStream(patience));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      if (isAboutRedirection(e) || !(e instanceof IOException failure)) {
        throw badRedirection();
      }
      throw failure;
    }
  }
}

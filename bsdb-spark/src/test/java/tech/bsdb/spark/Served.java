package tech.bsdb.spark;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.OpenOptions;
import tech.bsdb.store.Preload;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.ServeOptions;
import tech.bsdb.tools.serve.Service;
import tech.bsdb.tools.serve.ValueKind;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.telemetry.Telemetry;

/** A server of this process that answers rows as JSON, and a client of it. Thread-safe. */
final class Served implements AutoCloseable {
  /** The most keys of a batch. */
  static final int BATCH = 100_000;

  private final Service service;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private Served(Service service) {
    this.service = service;
  }

  /** Serves a store or a database. */
  static Served of(Path database) throws Exception {
    return new Served(new Service(options(database), Console.ofProcess(), null, Telemetry.NONE));
  }

  /** Serves a store that follows another one, and closes the follower in the end. */
  static Served of(Path store, Follower follower) throws Exception {
    return new Served(new Service(options(store), Console.ofProcess(), follower, Telemetry.NONE));
  }

  /** The answer for one key, percent-encoded; null if it is absent. */
  @Nullable String get(String key) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        client.send(HttpRequest.newBuilder(uri(key)).build(), BodyHandlers.ofString());
    if (answer.statusCode() != 200 && answer.statusCode() != 404) {
      throw new IOException(answer.statusCode() + " " + answer.body());
    }
    return answer.statusCode() == 200 ? answer.body() : null;
  }

  /**
   * Asks for many keys.
   *
   * @param type the type of the body: JSON or lines
   * @param query what follows the prefix
   * @return a line for each key
   */
  InputStream batch(String type, String query, byte[] body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) uri(query).toURL().openConnection();
    connection.setRequestProperty("Connection", "close"); // which the server would wait for
    connection.setRequestProperty("Content-Type", type);
    connection.setDoOutput(true);
    connection.setFixedLengthStreamingMode(body.length);
    try (OutputStream out = connection.getOutputStream()) {
      out.write(body);
    }
    if (connection.getResponseCode() != 200) {
      throw new IOException("status " + connection.getResponseCode());
    }
    return connection.getInputStream();
  }

  private URI uri(String rest) {
    return URI.create("http://127.0.0.1:" + service.port() + "/bsdb/" + rest);
  }

  private static ServeOptions options(Path database) {
    return new ServeOptions(
        DataSetLocations.single(database),
        "127.0.0.1",
        0,
        true,
        -1,
        -1,
        "/bsdb/",
        2,
        false,
        OpenOptions.defaults(),
        false,
        ValueKind.JSON,
        Preload.NONE,
        Duration.ofSeconds(1),
        Duration.ofSeconds(10),
        null,
        null,
        null,
        new Limits(
            100,
            10_000,
            1 << 24,
            BATCH,
            1 << 28,
            1 << 27,
            Duration.ofMinutes(5),
            Duration.ofMinutes(5),
            Duration.ofSeconds(1)),
        null);
  }

  @Override
  public void close() {
    service.close();
  }
}

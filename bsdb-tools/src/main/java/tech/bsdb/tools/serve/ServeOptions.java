package tech.bsdb.tools.serve;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.OpenOptions;
import tech.bsdb.store.Preload;

/**
 * How a database or store is served: an immutable value.
 *
 * @param database the directory of a database or a store
 * @param address the address to listen on
 * @param port the port to listen on, 0 for any free one
 * @param adminPort the port of the administration on the loopback address, 0 for any free one, -1
 *     for none
 * @param prefix the path in front of a key, with a slash at both ends
 * @param threads event loops
 * @param approximate whether the database must be an approximate one
 * @param open how databases are opened
 * @param async whether lookups are asynchronous
 * @param values what values are answered as
 * @param preload what of a version is brought into memory before it is served
 * @param poll how often it is looked for another version
 * @param tokens the file of bearer tokens, null for none
 * @param tls certificate and key, null for plain HTTP
 * @param accessLog where requests are written: a file, or {@code -} for stdout; null for nowhere
 * @param limits what a client may ask of the server
 */
public record ServeOptions(
    Path database,
    String address,
    int port,
    int adminPort,
    String prefix,
    int threads,
    boolean approximate,
    OpenOptions open,
    boolean async,
    ValueKind values,
    Preload preload,
    Duration poll,
    @Nullable Path tokens,
    @Nullable Tls tls,
    @Nullable String accessLog,
    Limits limits) {

  /**
   * Where the certificate chain and its private key are, both PEM.
   *
   * @param certificate the certificate and those that signed it
   * @param key the key, PKCS#8 without a password
   */
  public record Tls(Path certificate, Path key) {}

  /**
   * What a client may ask of the server.
   *
   * @param connections open connections
   * @param inFlight lookups that were begun and are not answered
   * @param bodyBytes bytes of a request's body
   * @param batchKeys keys of a batch
   * @param heldBytes bytes that are held for clients: bodies that are not answered, values from
   *     before they are read, answers that are not taken
   * @param clientBytes bytes of those that are held for one client
   * @param request how long a client may take to send a request, or to take some of an answer
   * @param idle how long a connection may stay open without a request
   * @param drain how long the end waits for what is in flight
   */
  public record Limits(
      int connections,
      int inFlight,
      int bodyBytes,
      int batchKeys,
      long heldBytes,
      long clientBytes,
      Duration request,
      Duration idle,
      Duration drain) {}
}

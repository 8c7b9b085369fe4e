package tech.bsdb.tools.serve;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.OpenOptions;
import tech.bsdb.store.Preload;

/**
 * Options for serving a database or store. Immutable.
 *
 * @param database the directory of a database or a store
 * @param address the address to listen on
 * @param port the port to listen on, 0 for any free one
 * @param adminPort the admin port on the loopback address, 0 for any free one, -1 for none
 * @param prefix the path before a key, with a slash at both ends
 * @param threads the number of event loops
 * @param approximate whether the database must be an approximate one
 * @param open how databases are opened
 * @param async whether lookups are asynchronous
 * @param values what values are answered as
 * @param preload what part of a version is loaded into memory before it is served
 * @param poll how often to check for another version
 * @param tokens the file of bearer tokens, null for none
 * @param tls certificate and key, null for plain HTTP
 * @param accessLog where requests are logged: a file, or {@code -} for stdout; null for none
 * @param limits the limits on clients
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
   * The files of the certificate chain and its private key, both PEM.
   *
   * @param certificate the certificate followed by its chain
   * @param key the key, unencrypted PKCS#8
   */
  public record Tls(Path certificate, Path key) {}

  /**
   * Limits on clients.
   *
   * @param connections maximum open connections
   * @param inFlight maximum lookups started and not yet answered
   * @param bodyBytes maximum bytes of a request's body
   * @param batchKeys maximum keys of a batch
   * @param heldBytes maximum bytes held for clients: unanswered bodies, values from just before
   *     they are read, answers not yet read
   * @param clientBytes maximum bytes held for one client
   * @param request how long a client may take to send a request, or to read some of an answer
   * @param idle how long a connection may stay open without a request
   * @param drain how long shutdown waits for requests in flight
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

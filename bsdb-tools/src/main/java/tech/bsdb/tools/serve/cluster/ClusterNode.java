package tech.bsdb.tools.serve.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A server of a cluster.
 *
 * @param name what the topology calls it
 * @param host the host name or address at which clients reach it
 * @param respPort the port for Redis clients, -1 for none
 * @param httpPort the port for HTTP, -1 for none
 */
public record ClusterNode(String name, String host, int respPort, int httpPort) {
  /** Stands for a port that a node does not have. */
  public static final int NO_PORT = -1;

  /** Returns the 40 hexadecimal digits by which Redis clients know it; they depend on its name. */
  public String id() {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest(name.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-1", e);
    }
  }

  /** Returns host and port for Redis clients, which take the last colon for the end of the host. */
  public String respAddress() {
    return host + ":" + respPort;
  }

  /** Returns host and port as they stand in a URL; the node must have a port for HTTP. */
  public String httpAuthority() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + httpPort;
  }
}

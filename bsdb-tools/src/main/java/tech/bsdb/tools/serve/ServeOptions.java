package tech.bsdb.tools.serve;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.OpenOptions;
import tech.bsdb.store.Preload;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.dataset.DataSetLocations;

/**
 * Options for serving data sets. Immutable.
 *
 * @param data where the data sets are
 * @param address the address to listen on
 * @param port the port to listen on, 0 for any free one
 * @param http whether HTTP is served
 * @param respPort the port for Redis clients, 0 for any free one, -1 for none
 * @param adminPort the admin port on the loopback address, 0 for any free one, -1 for none
 * @param prefix the path before a key, with a slash at both ends
 * @param threads the number of event loops
 * @param approximate whether the database must be an approximate one
 * @param open how databases are opened
 * @param async whether lookups are asynchronous; those in data sets elsewhere always are
 * @param values what values are answered as
 * @param preload what part of a version is loaded into memory before it is served
 * @param poll how often to check for another version
 * @param pollElsewhere how often to check in data sets elsewhere
 * @param tokens the file of bearer tokens, null for none
 * @param tls certificate and key, null for plain HTTP
 * @param accessLog where requests are logged: a file, or {@code -} for stdout; null for none
 * @param limits the limits on clients
 * @param cluster the cluster of which this server is a node, null for none
 */
public record ServeOptions(
    DataSetLocations data,
    String address,
    int port,
    boolean http,
    int respPort,
    int adminPort,
    String prefix,
    int threads,
    boolean approximate,
    OpenOptions open,
    boolean async,
    ValueKind values,
    Preload preload,
    Duration poll,
    Duration pollElsewhere,
    @Nullable Path tokens,
    @Nullable TlsFiles tls,
    @Nullable String accessLog,
    Limits limits,
    @Nullable ClusterOptions cluster) {}

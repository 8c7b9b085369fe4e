package tech.bsdb.tools.serve;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.store.Refusal;
import tech.bsdb.store.ReloadListener;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.dataset.PerDataSet;
import tech.bsdb.tools.serve.resp.RespCluster;
import tech.bsdb.tools.serve.resp.RespService;

/**
 * A running service over HTTP, RESP or both. Thread-safe. Closing it drains it: no more connections
 * are accepted, and requests in flight are answered completely, within {@link Limits#drain}.
 */
public final class Service implements AutoCloseable {
  private static final int BACKLOG = 4096;
  private static final WriteBufferWaterMark WRITTEN = new WriteBufferWaterMark(64 << 10, 256 << 10);

  /** How long clients have to notice "connection: close" before idle connections are closed. */
  private static final long NOTICE_MILLIS = 300;

  /** How long the end waits for lookups that do not return. */
  private static final int ENDING_SECONDS = 10;

  private final ServeOptions options;
  private final Console console;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Credentials credentials;
  private final @Nullable AccessLog accessLog;
  private final DataSets sets;
  private final @Nullable Follower follower;
  private final @Nullable Cluster cluster;
  private final Connections connections;
  private final Connections adminConnections;
  private final Transport transport;
  private final ExecutorService workers;
  private final ExecutorService counting;
  private final EventLoopGroup loops;
  private final @Nullable Channel listener;
  private final @Nullable Channel respListener;
  private final @Nullable Channel adminListener;
  private volatile String lastSwap = "";
  private volatile @Nullable RespService redis;
  private boolean closed;

  private Service(ServeOptions options, Console console, @Nullable Follower follower)
      throws IOException {
    this.options = options;
    this.console = console;
    this.follower = follower;
    try {
      this.credentials = new Credentials(options.tokens(), options.tls(), console);
      AccessLog log =
          options.accessLog() == null ? null : keep(new AccessLog(options.accessLog(), console));
      this.accessLog = log;
      LookupCounts counts = new LookupCounts(options.limits().inFlight());
      this.sets = new DataSets(options.data(), this::opened, counts, this::say);
      keep(this::closeSets);
      ClusterOptions member = options.cluster();
      Cluster joined =
          member == null
              ? null
              : keep(Cluster.join(member, this::unfit, options.poll(), this::say));
      this.cluster = joined;
      Latencies latencies = new Latencies();
      HeldMemory memory =
          new HeldMemory(options.limits().heldBytes(), options.limits().clientBytes());
      FailureReports failures = new FailureReports(console);
      Requests requests = new Requests(counts, failures, latencies, log);
      this.connections = new Connections(options.limits(), memory);
      this.adminConnections =
          new Connections(options.limits(), new HeldMemory(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
      this.workers =
          Executors.newFixedThreadPool(options.threads(), task -> daemon(task, "bsdb-worker"));
      keep(workers::shutdownNow);
      this.counting = Executors.newSingleThreadExecutor(t -> daemon(t, "bsdb-counting"));
      keep(counting::shutdown);
      RespService resp =
          options.respPort() < 0
              ? null
              : new RespService(
                  sets,
                  connections,
                  credentials,
                  counts,
                  failures,
                  workers,
                  options.async(),
                  joined == null ? null : new RespCluster(joined, counting, options.tls() != null));
      this.redis = resp;
      this.transport = Transport.best();
      this.loops = transport.loops(options.threads(), "bsdb-http");
      keep(() -> loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(2, TimeUnit.SECONDS));
      ExecutorService admin = Executors.newSingleThreadExecutor(t -> daemon(t, "bsdb-admin"));
      keep(admin::shutdownNow);
      ExecutorService reloads = Executors.newSingleThreadExecutor(t -> daemon(t, "bsdb-reloads"));
      keep(reloads::shutdownNow);
      ServerStatistics figures =
          new ServerStatistics(
              options,
              Instant.now(),
              sets,
              new PerDataSet<>(sets, ServerStatistics.Details::new),
              joined,
              follower == null ? null : follower.status(),
              connections,
              resp,
              requests,
              log,
              credentials,
              transport.name());
      if (resp != null) {
        resp.figures(figures::shared);
      }
      Metrics metrics = new Metrics(sets, figures, latencies);
      History history = new History(requests, sets, this::version);
      Pages pages =
          new Pages(
              sets, connections, requests, metrics, figures, history, admin, options.prefix());
      Routes keys =
          new PublicRoutes(
              options.prefix(),
              sets,
              pages,
              (set, prefix) ->
                  new KeyRoutes(
                      prefix,
                      new Lookups(
                          set,
                          requests,
                          workers,
                          options.async(),
                          options.values(),
                          new Placement(joined, options.tls() == null ? "http" : "https", prefix)),
                      options.limits().batchKeys()));
      this.listener =
          options.http()
              ? listen(
                  options.address(),
                  options.port(),
                  "-p",
                  httpHandler(connections, requests, keys, credentials))
              : null;
      this.respListener = resp == null ? null : listen(resp);
      this.adminListener =
          options.adminPort() < 0
              ? null
              : listen(
                  "127.0.0.1",
                  options.adminPort(),
                  "--admin-port",
                  httpHandler(
                      adminConnections,
                      Requests.uncounted(console),
                      new AdminRoutes(sets, joined, follower, connections, pages, reloads),
                      null));
      var unused =
          loops
              .next()
              .scheduleAtFixedRate(
                  () -> {
                    latencies.tick();
                    history.tick();
                  },
                  1,
                  1,
                  TimeUnit.SECONDS);
      var unusedDaily =
          loops
              .next()
              .scheduleAtFixedRate(() -> credentials.warn(Instant.now()), 1, 1, TimeUnit.DAYS);
      if (follower != null) {
        keep(follower).start(() -> reloads.execute(this::reload));
      }
    } catch (IOException | RuntimeException e) {
      closeAll();
      if (follower != null) {
        follower.close();
      }
      throw e;
    }
  }

  /**
   * Opens the database or store and starts listening.
   *
   * @throws IOException if that fails, with the file, option or address
   */
  public static Service start(ServeOptions options, Console console) throws IOException {
    return start(options, console, null);
  }

  /**
   * Opens a store that follows a source, starts listening, and starts the follower, which ends with
   * the service.
   *
   * @param follower null if the store follows nothing; closed if this fails
   * @throws IOException if that fails, with the file, option or address
   */
  public static Service start(ServeOptions options, Console console, @Nullable Follower follower)
      throws IOException {
    return new Service(options, console, follower);
  }

  private <T extends AutoCloseable> T keep(T resource) {
    opened.add(resource);
    return resource;
  }

  /** Returns why this server cannot serve in a topology of its cluster; null if it can. */
  private @Nullable String unfit(ClusterView view, SlotSet gained) {
    String lacking = HeldSlots.lacking(view, gained, sets);
    if (lacking != null) {
      return lacking;
    }
    boolean resp = options.respPort() >= 0;
    for (ClusterNode node : view.topology().nodes()) {
      if (resp && node.respPort() == ClusterNode.NO_PORT) {
        return "node " + node.name() + " has no port \"resp\", to which Redis clients are sent";
      }
    }
    return null;
  }

  /** Says if a data set that was added lacks keys of this node. */
  private void warnOfLackingSlots(String name, ReloadingDatabase added) {
    Cluster of = cluster; // null while the service starts, and checks all data sets itself
    if (of == null) {
      return;
    }
    ClusterView view = of.view();
    try (Lease lease = added.acquire()) {
      warn(HeldSlots.lacking(view, view.slots(), name, lease.database().statistics()));
    }
  }

  /** Says if a version that is served now lacks keys of this node. */
  private void warnOfLackingSlots() {
    Cluster of = cluster;
    if (of != null) {
      ClusterView view = of.view();
      warn(HeldSlots.lacking(view, view.slots(), sets));
    }
  }

  private void warn(@Nullable String lacking) {
    if (lacking != null) {
      say(lacking + "; commands for their keys fail");
    }
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Opens a data set and checks it. */
  private ReloadingDatabase opened(String name, Path directory) throws IOException {
    ReloadingDatabase database = ReloadingDatabase.open(directory, reloading(name));
    try {
      ValueKinds.check(options, database);
      warnOfLackingSlots(name, database);
      return database;
    } catch (IOException e) {
      database.close();
      throw name.isEmpty() ? e : new IOException("data set " + name + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private ReloadOptions reloading(String name) {
    String of = name.isEmpty() ? "" : name + ": ";
    return ReloadOptions.defaults()
        .withOpen(options.open())
        .withPoll(options.poll())
        .withPreload(options.preload())
        .withListener(
            new ReloadListener() {
              @Override
              public void opened(String version, Duration took) {
                lastSwap = of + version;
                invalidate();
                console.say(
                    "bsdb serve: "
                        + of
                        + "version "
                        + version
                        + " is now served, opened in "
                        + took.toMillis()
                        + " ms");
                warnOfLackingSlots();
              }

              @Override
              public void refused(Refusal refusal) {
                console.say(
                    "bsdb serve: "
                        + of
                        + (refusal.version().isEmpty()
                            ? "the store's current version"
                            : "version " + refusal.version())
                        + " is rejected, the previous version stays in service: "
                        + refusal.reason());
              }

              @Override
              public void closed(String version, @Nullable IOException failure) {
                if (failure != null) {
                  console.say(
                      "bsdb serve: "
                          + of
                          + "closing version "
                          + version
                          + " failed: "
                          + failure.getMessage());
                }
              }
            });
  }

  /** Prepares a connection that was accepted. */
  private interface Preparation {
    void prepare(Channel channel);
  }

  private Channel listen(RespService resp) throws IOException {
    Channel channel =
        listen(
            options.address(),
            options.respPort(),
            "--resp",
            accepted -> {
              if (connections.areFull()) {
                refuse(accepted, RespService.tooManyConnections(), credentials.tls());
              } else {
                encrypt(accepted, credentials.tls());
                accepted.config().setOption(ChannelOption.SO_KEEPALIVE, true);
                accepted.pipeline().addLast(resp.connection(accepted));
              }
            });
    resp.port(port(channel));
    return channel;
  }

  private Preparation httpHandler(
      Connections of, Requests requests, Routes routes, @Nullable Credentials opened) {
    RequestReader reader = new RequestReader(routes, opened, options.limits().bodyBytes());
    return accepted -> {
      SslContext tls = opened == null ? null : opened.tls();
      if (of.areFull()) {
        refuse(accepted, Reply.TOO_MANY_CONNECTIONS, tls);
        return;
      }
      encrypt(accepted, tls);
      RequestDecoder decoder = new RequestDecoder();
      HttpConnection connection = new HttpConnection(of, accepted, requests, reader, decoder);
      if (!requests.areLogged() && !options.async()) {
        accepted.pipeline().addLast(new PlainGets(connection, decoder, requests, opened));
      }
      accepted.pipeline().addLast(decoder, connection);
    };
  }

  private static void refuse(Channel accepted, byte[] reply, @Nullable SslContext tls) {
    byte[] words = tls == null ? reply : new byte[0];
    accepted.writeAndFlush(Unpooled.wrappedBuffer(words)).addListener(ChannelFutureListener.CLOSE);
  }

  private static void encrypt(Channel accepted, @Nullable SslContext tls) {
    if (tls != null) {
      accepted.pipeline().addLast(tls.newHandler(accepted.alloc()));
    }
  }

  /**
   * Listens on a port.
   *
   * @param option the option that chooses the port
   */
  private Channel listen(String address, int port, String option, Preparation preparation)
      throws IOException {
    InetSocketAddress place = new InetSocketAddress(address, port);
    if (place.isUnresolved()) {
      throw new IOException("-A " + address + ": no such address");
    }
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channel(transport.channel())
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WRITTEN)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    preparation.prepare(channel);
                  }
                });
    ChannelFuture bound = bootstrap.bind(place).awaitUninterruptibly();
    Throwable failure = bound.cause();
    if (failure != null) {
      throw new IOException(
          "cannot listen on " + address + ":" + port + ": " + bindFailure(failure, option),
          failure);
    }
    return bound.channel();
  }

  private static String bindFailure(Throwable failure, String option) {
    String message = String.valueOf(failure.getMessage());
    if (message.contains("in use")) {
      return "another process uses the port; choose another with " + option;
    }
    if (message.contains("ermission")) {
      return "not permitted; ports below 1024 need privileges, choose another with " + option;
    }
    if (message.contains("assign requested")) {
      return "not an address of this machine; choose one with -A";
    }
    return message;
  }

  /**
   * Reloads certificate, key and tokens, and reopens the access log. A bad file is rejected and the
   * previous one stays in use; the failure is logged and shown by the metrics.
   */
  public void reloadFiles() {
    boolean files =
        options.tokens() != null || options.tls() != null || options.accessLog() != null;
    if (!files && !sets.areNamed() && cluster == null) {
      console.say("bsdb serve: nothing to reload: no certificate, no tokens, no access log");
      return;
    }
    credentials.reload();
    if (accessLog != null) {
      accessLog.reopen();
    }
    if (sets.areNamed()) {
      refresh();
    }
    if (cluster != null) {
      try {
        boolean unused = cluster.refresh();
      } catch (IOException e) {
        // refused, which was said
      }
    }
  }

  /** Adds and removes data sets. */
  private void refresh() {
    try {
      DataSets.Changes changes = sets.refresh();
      if (changes.added().isEmpty() && changes.removed().isEmpty()) {
        say("the data sets are the same: " + sets.names());
      }
    } catch (IOException e) {
      say("the data sets stay as they are: " + e.getMessage());
    }
  }

  /** Tells clients that keep values that these may have changed. */
  private void invalidate() {
    RespService resp = redis;
    if (resp != null) {
      resp.invalidate();
    }
  }

  private void say(String text) {
    console.say("bsdb serve: " + text);
  }

  private void reload() {
    try {
      boolean unused = sets.first().database().reload();
    } catch (IOException | IllegalStateException e) {
      // the listener has told why the version is refused; or the service ends
    }
  }

  /** Returns the version being served; of several data sets, the last one that was swapped in. */
  private String version() {
    if (sets.areNamed()) {
      return lastSwap;
    }
    try (Lease lease = sets.first().acquire()) {
      return lease.version();
    }
  }

  /** Returns the memory held for clients. */
  HeldMemory memory() {
    return connections.memory();
  }

  /** Returns the port for HTTP, or -1 for none. */
  public int port() {
    return port(listener);
  }

  /** Returns the port for Redis clients, or -1 for none. */
  public int respPort() {
    return port(respListener);
  }

  /** Returns the admin port, or -1 for none. */
  public int adminPort() {
    return port(adminListener);
  }

  private static int port(@Nullable Channel listening) {
    return listening == null ? -1 : ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Describes what is served and where, for people. */
  public String description() {
    String safe = options.tls() == null ? "" : "s";
    String address =
        options.address().contains(":") ? "[" + options.address() + "]" : options.address();
    String http =
        listener == null
            ? ""
            : ", on http" + safe + "://" + address + ":" + port() + options.prefix();
    String resp =
        respListener == null ? "" : ", on redis" + safe + "://" + address + ":" + respPort();
    String admin = adminListener == null ? "" : ", administration on 127.0.0.1:" + adminPort();
    DataSet first = sets.first();
    try (Lease lease = first.acquire()) {
      return sets.description()
          + (!sets.areNamed() && first.database().followsStore()
              ? ", version " + lease.version()
              : "")
          + (follower == null ? "" : ", following " + follower.source())
          + (cluster == null
              ? ""
              : ", node " + cluster.view().self().name() + " of " + cluster.file())
          + http
          + resp
          + admin
          + " ("
          + transport.name()
          + ", "
          + lease.database().statistics().engine()
          + ")";
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (follower != null) {
      follower.stop(); // while the requests are finished
    }
    long end = System.nanoTime() + options.limits().drain().toNanos();
    long noticed = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(NOTICE_MILLIS);
    stop(listener);
    stop(respListener);
    connections.drain(true);
    try {
      while (connections.count() > 0 && System.nanoTime() < end) {
        if (System.nanoTime() > noticed) {
          connections.endIdle();
        }
        TimeUnit.MILLISECONDS.sleep(10);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int left = connections.count();
    if (left > 0) {
      console.say("bsdb serve: " + left + " connections were cut at shutdown");
      connections.cut();
    }
    stop(adminListener);
    adminConnections.cut();
    endWorkers();
    closeAll();
  }

  /** Lets the workers end what they have begun, while event loops still take it from them. */
  private void endWorkers() {
    counting.shutdown(); // which ends counting
    workers.shutdown();
    try {
      if (!workers.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)) {
        say("lookups are still in progress after " + ENDING_SECONDS + " s, and are given up");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes the data sets, unless a lookup that does not return keeps one open. */
  private void closeSets() throws InterruptedException {
    Thread closing = daemon(sets::close, "bsdb-closing");
    closing.start();
    closing.join(TimeUnit.SECONDS.toMillis(ENDING_SECONDS));
    if (closing.isAlive()) {
      say("a data set is still in use; it stays open until the process ends");
    }
  }

  private static void stop(@Nullable Channel listening) {
    if (listening != null) {
      listening.close().awaitUninterruptibly();
    }
  }

  /** Closes what was opened, in reverse order. */
  private void closeAll() {
    for (int i = opened.size() - 1; i >= 0; i--) {
      try {
        opened.get(i).close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        console.say("bsdb serve: closing failed: " + e.getMessage());
      }
    }
  }
}

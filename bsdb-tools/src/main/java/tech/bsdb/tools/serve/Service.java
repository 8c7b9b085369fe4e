package tech.bsdb.tools.serve;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.store.Refusal;
import tech.bsdb.store.ReloadListener;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.inspect.Place;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.resp.RespService;
import tech.bsdb.tools.serve.telemetry.Route;
import tech.bsdb.tools.serve.telemetry.Telemetry;

/**
 * A running service over HTTP, RESP or both. Thread-safe. Closing it drains it: no more connections
 * are accepted, and requests in flight are answered completely, within {@link Limits#drain}.
 */
public final class Service implements AutoCloseable {
  /** How long clients have to notice "connection: close" before idle connections are closed. */
  private static final long NOTICE_MILLIS = 300;

  /** How long the end waits for lookups that do not return. */
  private static final int ENDING_SECONDS = 10;

  /** How long connections that are cut may take to end. */
  private static final int CUT_MILLIS = 500;

  /** So many batches at once wait for data sets elsewhere. */
  private static final int DISTANT_WORKERS = 64;

  private static final int IDLE_SECONDS = 10;

  /** So many that a file system that does not answer does not keep the metrics back, too. */
  private static final int ADMIN_THREADS = 2;

  private final ServeOptions options;
  private final Console console;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Credentials credentials;
  private final @Nullable AccessLog accessLog;
  private final DataSets sets;
  private final @Nullable Follower follower;
  private final Telemetry telemetry;
  private final @Nullable Cluster cluster;
  private final Connections connections;
  private final Connections adminConnections;
  private final Transport transport;
  private final ExecutorService workers;
  private final ExecutorService distantWorkers;
  private final ExecutorService counting;
  private final @Nullable Channel listener;
  private final @Nullable Channel respListener;
  private final @Nullable Channel adminListener;
  private volatile String lastSwap = "";
  private volatile @Nullable RespService redis;
  private boolean closed;

  /**
   * Opens the data sets and starts listening.
   *
   * @param follower follows a source from now on, and ends with the service; null if the store
   *     follows nothing; closed if this fails
   * @param telemetry is told what happens, and ends with the service; closed if this fails
   * @throws IOException if that fails, with the file, option or address
   */
  public Service(
      ServeOptions options, Console console, @Nullable Follower follower, Telemetry telemetry)
      throws IOException {
    this.options = options;
    this.console = console;
    this.follower = follower;
    this.telemetry = telemetry;
    try {
      this.credentials = new Credentials(options.tokens(), options.tls(), console);
      AccessLog log =
          options.accessLog() == null ? null : keep(new AccessLog(options.accessLog(), console));
      this.accessLog = log;
      LookupCounts counts = new LookupCounts(options.limits().inFlight());
      keep(options.data());
      this.sets = new DataSets(options.data(), this::opened, counts, this::say);
      keep(this::closeSets);
      ClusterOptions member = options.cluster();
      Cluster joined = member == null ? null : new Cluster(member, this::unfit, this::say);
      this.cluster = joined;
      Latencies latencies = new Latencies();
      HeldMemory memory =
          new HeldMemory(options.limits().heldBytes(), options.limits().clientBytes());
      FailureReports failures = new FailureReports(console);
      String scheme = options.tls() == null ? "http" : "https";
      Requests requests = new Requests(counts, failures, latencies, log, telemetry, scheme);
      this.connections = new Connections(options.limits(), memory);
      this.adminConnections =
          new Connections(options.limits(), new HeldMemory(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
      this.workers = Executors.newFixedThreadPool(options.threads(), daemons("bsdb-worker"));
      keep(workers::shutdownNow);
      this.distantWorkers = distantWorkers();
      keep(distantWorkers::shutdownNow);
      this.counting = Executors.newSingleThreadExecutor(daemons("bsdb-counting"));
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
                  distantWorkers,
                  options.async(),
                  joined,
                  counting);
      this.redis = resp;
      this.transport = keep(new Transport(options.threads()));
      sets.onRefresh(this::changed);
      ScheduledExecutorService admin =
          Executors.newScheduledThreadPool(ADMIN_THREADS, daemons("bsdb-admin"));
      keep(admin::shutdownNow);
      ExecutorService reloads = Executors.newSingleThreadExecutor(daemons("bsdb-reloads"));
      keep(reloads::shutdownNow);
      reloads.execute(() -> {}); // starts its thread here: one that pulls has a low priority
      ServerStatistics figures =
          new ServerStatistics(
              options,
              Instant.now(),
              sets,
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
      Pages pages = new Pages(figures, this::version, admin);
      Routes keys =
          new PublicRoutes(
              options.prefix(),
              sets,
              pages,
              (set, prefix) -> {
                Route many = Route.keys(options.prefix(), set.name());
                return new KeyRoutes(
                    prefix,
                    new Lookups(
                        set,
                        requests,
                        set.isDistant() ? distantWorkers : workers,
                        options.async() || set.isDistant(),
                        options.values(),
                        joined,
                        node -> scheme + "://" + node + prefix),
                    options.limits().batchKeys(),
                    many,
                    many.oneKey());
              });
      this.listener =
          options.http()
              ? listenHttp(options.address(), options.port(), "-p", connections, requests, keys)
              : null;
      this.respListener = resp == null ? null : listen(resp);
      this.adminListener =
          options.adminPort() < 0
              ? null
              : listenHttp(
                  "127.0.0.1",
                  options.adminPort(),
                  "--admin-port",
                  adminConnections,
                  Requests.uncounted(console),
                  new AdminRoutes(sets, joined, follower, connections, pages, reloads));
      repeat(admin, pages::tick, "collecting figures", Duration.ofSeconds(1));
      Runnable warning = () -> credentials.warn(Instant.now());
      repeat(admin, warning, "checking the certificate", Duration.ofDays(1));
      if (joined != null) {
        repeat(admin, joined::look, "reading the cluster's topology", options.poll());
      }
      telemetry.export(new Metrics(figures)::collect);
      if (follower != null) {
        keep(follower).start(() -> reloads.execute(this::reload));
      }
    } catch (IOException | RuntimeException e) {
      end(telemetry);
      closeAll();
      if (follower != null) {
        follower.close();
      }
      throw e;
    }
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

  /** Tells whom it concerns that data sets or versions may be others than before. */
  private void changed() {
    RespService resp = redis;
    if (resp != null) {
      resp.invalidate();
    }
    Cluster of = cluster; // null while the service starts, and checks all data sets itself
    if (of != null) {
      ClusterView view = of.view();
      String lacking = HeldSlots.lacking(view, view.slots(), sets);
      if (lacking != null) {
        say(lacking + "; commands for their keys fail");
      }
    }
  }

  /** Runs a task from time to time, which no failure ends. */
  private void repeat(ScheduledExecutorService on, Runnable task, String what, Duration pause) {
    Runnable guarded =
        () -> {
          try {
            task.run();
          } catch (RuntimeException | Error e) { // often the service has closed its data sets
            if (!on.isShutdown()) {
              say(what + " failed: " + e);
            }
          }
        };
    long nanos = pause.toNanos();
    var unused = on.scheduleAtFixedRate(guarded, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /** Threads that end when they are idle: there are many, and most of the time they only wait. */
  private static ExecutorService distantWorkers() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            DISTANT_WORKERS,
            DISTANT_WORKERS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons("bsdb-distant"));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static ThreadFactory daemons(String name) {
    return new DefaultThreadFactory(name, true);
  }

  /** Opens a data set and checks it. */
  private ReloadingDatabase opened(String name, Place place) throws IOException {
    ReloadingDatabase database = place.follow(reloading(name, place instanceof Place.Here));
    try {
      check(database);
      return database;
    } catch (IOException e) {
      database.close();
      throw name.isEmpty() ? e : new IOException("data set " + name + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /** Checks that a data set matches the options. */
  private void check(ReloadingDatabase opened) throws IOException {
    try (Lease lease = opened.acquire()) {
      boolean approximate = lease.database().statistics().approximateWidth() > 0;
      if (options.approximate() && !approximate) {
        throw new IOException(
            opened.location() + " has no approximate index; leave -a out, or build it with -a");
      }
      options.values().check(opened.location(), lease);
    }
  }

  private ReloadOptions reloading(String name, boolean here) {
    String of = name.isEmpty() ? "" : name + ": ";
    return ReloadOptions.defaults()
        .withOpen(options.open())
        .withPoll(here ? options.poll() : options.pollElsewhere())
        .withPreload(options.preload())
        .withListener(
            new ReloadListener() {
              @Override
              public void opened(String version, Duration took) {
                lastSwap = of + version;
                String opening = ", opened in " + took.toMillis() + " ms";
                say(of + "version " + version + " is now served" + opening);
                telemetry.opened(name, version, took);
                changed();
              }

              @Override
              public void preloading(String version, long bytes, long all) {
                if (all > 0) {
                  String share = "%d %% of %,d bytes".formatted(100 * bytes / all, all);
                  say(of + "version " + version + ": " + share + " are on disk");
                }
              }

              @Override
              public void notPreloaded(String version, IOException failure) {
                say(of + "version " + version + " is not preloaded: " + failure.getMessage());
              }

              @Override
              public void refused(Refusal refusal) {
                String which =
                    refusal.version().isEmpty()
                        ? "the store's current version"
                        : "version " + refusal.version();
                String why = ", the previous version stays in service: " + refusal.reason();
                say(of + which + " is rejected" + why);
                telemetry.refused(name, refusal.version());
              }

              @Override
              public void closed(String version, @Nullable IOException failure) {
                if (failure != null) {
                  say(of + "closing version " + version + " failed: " + failure.getMessage());
                }
              }
            });
  }

  private Channel listen(RespService resp) throws IOException {
    byte[] full = RespService.tooManyConnections();
    Channel channel =
        transport.listen(
            options.address(),
            options.respPort(),
            "--resp",
            accepted -> {
              if (admit(accepted, connections, full, credentials)) {
                accepted.config().setOption(ChannelOption.SO_KEEPALIVE, true);
                accepted.pipeline().addLast(resp.connection(accepted));
              }
            });
    resp.port(port(channel));
    return channel;
  }

  /** Listens for HTTP; for administration without the credentials. */
  private Channel listenHttp(
      String address, int port, String option, Connections of, Requests requests, Routes routes)
      throws IOException {
    Credentials needed = of == adminConnections ? null : credentials;
    RequestReader reader = new RequestReader(routes, needed, options.limits().bodyBytes());
    return transport.listen(
        address,
        port,
        option,
        accepted -> {
          if (!admit(accepted, of, Reply.TOO_MANY_CONNECTIONS, needed)) {
            return;
          }
          RequestDecoder decoder = new RequestDecoder();
          HttpConnection connection = new HttpConnection(of, accepted, requests, reader, decoder);
          if (!requests.areTold() && !options.async()) {
            accepted.pipeline().addLast(new PlainGets(connection, requests, needed));
          }
          accepted.pipeline().addLast(decoder, connection);
        });
  }

  /**
   * Encrypts a connection if clients need that, or closes it if there are too many.
   *
   * @param full what is said then to clients that need no encryption
   */
  private static boolean admit(
      Channel accepted, Connections others, byte[] full, @Nullable Credentials needed) {
    if (others.areFull()) {
      boolean plain = needed == null || needed.tls() == null;
      accepted
          .writeAndFlush(plain ? Unpooled.wrappedBuffer(full) : Unpooled.EMPTY_BUFFER)
          .addListener(ChannelFutureListener.CLOSE);
      return false;
    }
    if (needed != null) {
      needed.secure(accepted);
    }
    return true;
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
    awaitConnections(noticed, end);
    int left = connections.count();
    if (left > 0) {
      console.say("bsdb serve: " + left + " connections were cut at shutdown");
      connections.cut();
      long now = System.nanoTime();
      awaitConnections(now, now + TimeUnit.MILLISECONDS.toNanos(CUT_MILLIS)); // they tell spans
    }
    stop(adminListener);
    adminConnections.cut();
    endWorkers();
    end(telemetry); // while the data sets have figures
    closeAll();
  }

  /**
   * Waits until there are no connections.
   *
   * @param noticed when idle ones are closed, because their clients know of the end
   */
  private void awaitConnections(long noticed, long end) {
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
  }

  /** Lets the workers end what they have begun, while event loops still take it from them. */
  private void endWorkers() {
    counting.shutdown(); // which ends counting
    workers.shutdown();
    distantWorkers.shutdown();
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ENDING_SECONDS);
      if (!workers.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)
          || !distantWorkers.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        say("lookups are still in progress after " + ENDING_SECONDS + " s, and are given up");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes the data sets, unless a lookup that does not return keeps one open. */
  private void closeSets() throws InterruptedException {
    Thread closing = daemons("bsdb-closing").newThread(sets::close);
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
      end(opened.get(i));
    }
  }

  private void end(AutoCloseable resource) {
    try {
      resource.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      say("closing failed: " + e.getMessage());
    }
  }
}

package tech.bsdb.tools.serve;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The event loops of a server, each with its own thread, and the ports that they listen on. */
final class Transport implements AutoCloseable {
  private static final int BACKLOG = 4096;
  private static final WriteBufferWaterMark WRITTEN = new WriteBufferWaterMark(64 << 10, 256 << 10);

  private final boolean epoll =
      !"nio".equals(System.getProperty("bsdb.transport")) && Epoll.isAvailable();
  private final EventLoopGroup loops;

  /**
   * Starts event loops by the fastest transport on this machine. {@code -Dbsdb.transport=nio}
   * selects the JDK's. Unless it is asked for by Netty's own property, nothing looks for leaked
   * buffers: it costs one buffer in 128 a stack trace, which is 2 % of the time of a short answer.
   */
  Transport(int threads) {
    if (System.getProperty("io.netty.leakDetection.level") == null
        && System.getProperty("io.netty.leakDetectionLevel") == null) { // its older name
      ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }
    this.loops =
        new MultiThreadIoEventLoopGroup(
            threads,
            new DefaultThreadFactory("bsdb-http", true),
            epoll ? LastingEpoll.newFactory() : NioIoHandler.newFactory());
  }

  /** Returns the name of the transport. */
  String name() {
    return epoll ? "epoll" : "nio";
  }

  /**
   * Listens on a port.
   *
   * @param option the option that chooses the port
   * @param accepted prepares each connection, on its event loop
   * @throws IOException if that is impossible, with the address and what to do
   */
  Channel listen(String address, int port, String option, Consumer<Channel> accepted)
      throws IOException {
    InetSocketAddress place = new InetSocketAddress(address, port);
    if (place.isUnresolved()) {
      throw new IOException("-A " + address + ": no such address");
    }
    Class<? extends ServerSocketChannel> kind =
        epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channel(kind)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WRITTEN)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accepted.accept(channel);
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

  @Override
  public void close() {
    boolean unused =
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}

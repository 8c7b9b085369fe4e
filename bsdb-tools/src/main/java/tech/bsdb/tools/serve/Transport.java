package tech.bsdb.tools.serve;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * The socket transport used on this machine.
 *
 * @param name its name
 * @param channel the class of listening channels
 * @param handlers creates the I/O handler of an event loop
 */
record Transport(
    String name, Class<? extends ServerSocketChannel> channel, IoHandlerFactory handlers) {

  /**
   * Returns the fastest transport on this machine. {@code -Dbsdb.transport=nio} selects the JDK's.
   */
  static Transport best() {
    if (!"nio".equals(System.getProperty("bsdb.transport")) && Epoll.isAvailable()) {
      return new Transport("epoll", EpollServerSocketChannel.class, EpollIoHandler.newFactory());
    }
    return new Transport("nio", NioServerSocketChannel.class, NioIoHandler.newFactory());
  }

  /** Creates event loops, each with its own thread. */
  EventLoopGroup loops(int threads, String threadName) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory(threadName, true), handlers);
  }
}

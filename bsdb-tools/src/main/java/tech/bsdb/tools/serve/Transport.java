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
 * How sockets are served on this machine.
 *
 * @param name what it is called
 * @param channel the class of listening channels
 * @param handlers makes what an event loop does its I/O with
 */
record Transport(
    String name, Class<? extends ServerSocketChannel> channel, IoHandlerFactory handlers) {

  /** The quickest that this machine offers. {@code -Dbsdb.transport=nio} keeps to the JDK's. */
  static Transport best() {
    if (!"nio".equals(System.getProperty("bsdb.transport")) && Epoll.isAvailable()) {
      return new Transport("epoll", EpollServerSocketChannel.class, EpollIoHandler.newFactory());
    }
    return new Transport("nio", NioServerSocketChannel.class, NioIoHandler.newFactory());
  }

  /** Event loops, each a thread. */
  EventLoopGroup loops(int threads, String threadName) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory(threadName, true), handlers);
  }
}

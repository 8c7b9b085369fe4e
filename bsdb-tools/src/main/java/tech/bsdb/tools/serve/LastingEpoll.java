package tech.bsdb.tools.serve;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;

/**
 * Netty's epoll, for connections whose clients send nothing more and still read. Once nothing of a
 * socket is awaited, Netty 4.2.18 removes it from epoll, and closes the connection when something
 * is awaited again, such as room for the rest of an answer. Here it stays, awaiting errors, of
 * which each is notified once.
 */
record LastingEpoll(IoHandler epoll) implements IoHandler {
  private static final EpollIoOps ERRORS = EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLET);

  static IoHandlerFactory newFactory() {
    IoHandlerFactory factory = EpollIoHandler.newFactory();
    return executor -> new LastingEpoll(factory.newHandler(executor));
  }

  /** A socket in epoll. */
  private record Socket(IoRegistration of) implements IoRegistration {
    @Override
    public long submit(IoOps awaited) {
      return of.submit(awaited.equals(EpollIoOps.NONE) ? ERRORS : awaited);
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // that is how Netty declares it
    public <T> T attachment() {
      return of.attachment();
    }

    @Override
    public boolean isValid() {
      return of.isValid();
    }

    @Override
    public boolean cancel() {
      return of.cancel();
    }
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return new Socket(epoll.register(handle));
  }

  @Override
  public void initialize() {
    epoll.initialize();
  }

  @Override
  public int run(IoHandlerContext context) {
    return epoll.run(context);
  }

  @Override
  public void prepareToDestroy() {
    epoll.prepareToDestroy();
  }

  @Override
  public void destroy() {
    epoll.destroy();
  }

  @Override
  public void wakeup() {
    epoll.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> type) {
    return epoll.isCompatible(type);
  }
}

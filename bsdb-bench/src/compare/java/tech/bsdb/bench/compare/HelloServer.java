package tech.bsdb.bench.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

/**
 * A minimal Netty server that answers every request with the same bytes: the baseline for {@code
 * bsdb serve}.
 */
public final class HelloServer {
  private HelloServer() {}

  /**
   * Serves until the process ends.
   *
   * @param args port, number of event loops, text of the answers
   */
  public static void main(String[] args) throws InterruptedException {
    byte[] body = args[2].getBytes(UTF_8);
    new ServerBootstrap()
        .group(
            new MultiThreadIoEventLoopGroup(Integer.parseInt(args[1]), EpollIoHandler.newFactory()))
        .channel(EpollServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpServerCodec(), new Hello(body));
              }
            })
        .bind("127.0.0.1", Integer.parseInt(args[0]))
        .sync()
        .channel()
        .closeFuture()
        .sync();
  }

  private static final class Hello extends SimpleChannelInboundHandler<HttpObject> {
    private final byte[] body;

    Hello(byte[] body) {
      this.body = body;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a void promise has no waiters
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
      if (message instanceof HttpRequest) {
        DefaultFullHttpResponse response =
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(body));
        response
            .headers()
            .set(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream")
            .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        context.write(response, context.voidPromise());
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }
  }
}

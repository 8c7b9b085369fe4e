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
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import javax.net.ssl.SSLException;

/**
 * A minimal Netty server that answers every request with the same bytes: the baseline for {@code
 * bsdb serve}.
 */
public final class HelloServer {
  private HelloServer() {}

  /**
   * Serves until the process ends.
   *
   * @param args port, number of event loops, text of the answers; for TLS 1.3 also the PEM files of
   *     a certificate and its key
   */
  public static void main(String[] args) throws InterruptedException, SSLException {
    byte[] body = args[2].getBytes(UTF_8);
    SslContext tls = args.length > 3 ? tls(new File(args[3]), new File(args[4])) : null;
    new ServerBootstrap()
        .group(
            new MultiThreadIoEventLoopGroup(Integer.parseInt(args[1]), EpollIoHandler.newFactory()))
        .channel(EpollServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                if (tls != null) {
                  channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                }
                channel.pipeline().addLast(new HttpServerCodec(), new Hello(body));
              }
            })
        .bind("127.0.0.1", Integer.parseInt(args[0]))
        .sync()
        .channel()
        .closeFuture()
        .sync();
  }

  private static SslContext tls(File certificate, File key) throws SSLException {
    return SslContextBuilder.forServer(certificate, key).protocols("TLSv1.3").build();
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

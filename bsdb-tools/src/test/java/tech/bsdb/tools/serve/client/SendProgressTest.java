package tech.bsdb.tools.serve.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class SendProgressTest {
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final SendProgress progress = new SendProgress();

  private ChannelOutboundBuffer buffer() {
    return channel.unsafe().outboundBuffer();
  }

  private SendProgress.State waiting() {
    return progress.waiting(buffer());
  }

  private void write(int bytes) {
    progress.wrote();
    var unused = channel.write(Unpooled.wrappedBuffer(new byte[bytes]));
  }

  @Test
  void whoTakesNothingIsStuckSinceTheFirstLook() {
    assertThat(waiting()).isNull();
    write(1000);
    assertThat(progress.stuckSince(waiting(), 5)).isEqualTo(5);
    assertThat(progress.stuckSince(waiting(), 20)).isEqualTo(5);
  }

  @Test
  void anAnswerLikeTheOneBeforeIsAnother() {
    write(1000);
    assertThat(progress.stuckSince(waiting(), 5)).isEqualTo(5);
    channel.flush(); // it was taken, and nobody looked
    assertThat(waiting()).isNull();
    write(1000);
    assertThat(progress.stuckSince(waiting(), 100)).isEqualTo(100);
  }
}

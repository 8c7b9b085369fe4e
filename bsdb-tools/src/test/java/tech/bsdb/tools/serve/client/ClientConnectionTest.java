package tech.bsdb.tools.serve.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.serve.client.Connections.Limits;

class ClientConnectionTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Limits LIMITS =
      new Limits(10, 10, 1 << 20, 10, 1 << 20, 1 << 20, LONG, LONG, LONG);

  private final Connections connections =
      new Connections(LIMITS, new HeldMemory(LIMITS.heldBytes(), LIMITS.clientBytes()));
  private final EmbeddedChannel channel =
      new EmbeddedChannel(DefaultChannelId.newInstance(), false, false);
  private final Answering connection = new Answering(connections, channel);

  ClientConnectionTest() throws Exception {
    channel.pipeline().addLast(connection);
    channel.register();
  }

  /** Answers as many requests as it is told, by a byte each. */
  private static final class Answering extends ClientConnection {
    private int requests;
    private int answered;
    private int discarded;
    private int released;
    private final List<Throwable> failures = new ArrayList<>();

    Answering(Connections connections, EmbeddedChannel channel) {
      super(connections, channel);
    }

    void ask(int more) {
      requests += more;
      serve();
    }

    @Override
    protected boolean advance() {
      if (answered == requests || !clientReads()) {
        return false;
      }
      answered++;
      write(Unpooled.wrappedBuffer(new byte[1]));
      serve(); // does nothing: this is a step already
      return true;
    }

    @Override
    protected void advanced() {}

    @Override
    protected boolean isIdle() {
      return answered == requests;
    }

    @Override
    protected long nanosLeft(long now) {
      return Long.MAX_VALUE;
    }

    @Override
    protected void discard() {
      discarded++;
    }

    @Override
    protected void release() {
      released++;
    }

    @Override
    protected void failed(Throwable cause) {
      failures.add(cause);
    }
  }

  private ChannelOutboundBuffer buffer() {
    return channel.unsafe().outboundBuffer();
  }

  private void write(int bytes) {
    connection.write(Unpooled.wrappedBuffer(new byte[bytes]));
  }

  @Test
  void whoTakesNothingIsStuckSinceTheFirstLook() {
    write(1000);
    assertThat(connection.stuckSince(buffer(), 5)).isEqualTo(5);
    assertThat(connection.stuckSince(buffer(), 20)).isEqualTo(5);
  }

  @Test
  void anAnswerLikeTheOneBeforeIsAnother() {
    write(1000);
    assertThat(connection.stuckSince(buffer(), 5)).isEqualTo(5);
    channel.flush(); // it was taken, and nobody looked
    write(1000);
    assertThat(connection.stuckSince(buffer(), 100)).isEqualTo(100);
  }

  @Test
  void nothingIsAnsweredUntilTheClientReads() {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    connection.ask(2);
    assertThat(connection.answered).isZero();
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    assertThat(connection.answered).isEqualTo(2);
    assertThat(channel.outboundMessages()).hasSize(2);
  }

  /** What is sent outside the pump may be the answer of a step that is not over. */
  @Test
  void aClientThatReadsIsNoReasonToAnswerUnlessAnswersWait() {
    connection.requests = 1;
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    assertThat(connection.answered).isZero();
  }

  @Test
  void onlyAnIdleConnectionEnds() {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    connection.ask(1);
    connection.endIfIdle();
    channel.runPendingTasks();
    assertThat(channel.isOpen()).isTrue();
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    connection.endIfIdle();
    channel.runPendingTasks();
    assertThat(channel.isOpen()).isFalse();
    assertThat(connection.answered).isOne();
  }

  @Test
  void aConnectionThatIsGoneIsDroppedOnce() {
    assertThat(connections.count()).isOne();
    assertThat(connections.memory().clients()).isOne();
    connection.finish();
    channel.runPendingTasks();
    assertThat(connection.discarded).isEqualTo(1);
    assertThat(connection.released).isEqualTo(1);
    assertThat(connections.count()).isZero();
    assertThat(connections.memory().clients()).isZero();
    assertThat(connections.memory().held()).isZero();
    connection.ask(1);
    assertThat(connection.answered).isZero();
  }

  /** Fails as a task that runs out of memory does. */
  private static @Nullable Throwable fails() {
    throw new OutOfMemoryError("of a test");
  }

  @Test
  void aTaskThatFailsGoesOnWithItsFailure() {
    List<@Nullable Throwable> ended = new ArrayList<>();
    RuntimeException returned = new IllegalStateException();
    connection.onThread(Runnable::run, ClientConnectionTest::fails, ended::add, Assertions::fail);
    connection.onThread(Runnable::run, () -> returned, ended::add, Assertions::fail);
    connection.onThread(Runnable::run, () -> null, ended::add, Assertions::fail);
    assertThat(ended).isEmpty(); // until the event loop gets there
    channel.runPendingTasks();
    assertThat(ended).hasSize(3);
    assertThat(ended.get(0)).isInstanceOf(OutOfMemoryError.class);
    assertThat(ended.get(1)).isSameAs(returned);
    assertThat(ended.get(2)).isNull();
    assertThat(channel.isOpen()).isTrue();
    assertThat(connection.failures).isEmpty();
  }

  @Test
  void aTaskOfAConnectionThatIsGoneDoesNotRun() {
    List<Runnable> tasks = new ArrayList<>();
    List<@Nullable Throwable> ended = new ArrayList<>();
    connection.onThread(tasks::add, ClientConnectionTest::fails, ended::add, Assertions::fail);
    connection.cut();
    channel.runPendingTasks();
    tasks.get(0).run();
    channel.runPendingTasks();
    assertThat(ended).hasSize(1).containsOnlyNulls();
  }

  @Test
  void aTaskThatIsRefusedIsUndone() {
    AtomicInteger undone = new AtomicInteger();
    connection.onThread(
        task -> {
          throw new RejectedExecutionException();
        },
        ClientConnectionTest::fails,
        failure -> Assertions.fail(),
        undone::incrementAndGet);
    channel.runPendingTasks();
    assertThat(undone).hasValue(1);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aFailureOnTheLoopIsReportedAndEndsTheConnection() {
    connection.onLoop(
        () -> {
          throw new OutOfMemoryError("of a test");
        });
    channel.runPendingTasks();
    assertThat(connection.failures).hasSize(1).hasOnlyElementsOfType(OutOfMemoryError.class);
    assertThat(channel.isOpen()).isFalse();
    assertThat(connection.released).isOne();
  }
}

package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TrackedKeysTest {
  private final AtomicLong taken = new AtomicLong();

  private static String told(TrackedKeys keys) {
    ReplyWriter out = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT);
    StringBuilder text = new StringBuilder();
    keys.invalidate(out);
    out.takeTo(
        piece -> {
          text.append(piece.toString(UTF_8));
          piece.release();
        });
    return text.toString().replace("\r\n", " ");
  }

  @Test
  void eachKeyIsNamedOnce() {
    TrackedKeys keys = new TrackedKeys(taken);
    keys.restart(true);
    keys.add("k".getBytes(UTF_8));
    long one = taken.get();
    keys.add("k".getBytes(UTF_8));
    assertThat(taken.get()).isEqualTo(one).isPositive();
    assertThat(told(keys)).isEqualTo(">2 $10 invalidate *1 $1 k ");
    assertThat(taken.get()).isZero();
    assertThat(told(keys)).isEqualTo(">2 $10 invalidate _ ");
    keys.add("z".getBytes(UTF_8));
    assertThat(told(keys)).isEqualTo(">2 $10 invalidate *1 $1 z ");
  }

  @Test
  void everythingIsInvalidIfTheKeysDoNotFit() {
    TrackedKeys keys = new TrackedKeys(taken);
    keys.restart(true);
    keys.add("k".getBytes(UTF_8));
    long one = taken.get();
    taken.addAndGet(TrackedKeys.MOST_BYTES - one); // of other connections
    keys.add("z".getBytes(UTF_8));
    assertThat(taken.get()).isEqualTo(TrackedKeys.MOST_BYTES - one);
    keys.add("y".getBytes(UTF_8));
    assertThat(told(keys)).isEqualTo(">2 $10 invalidate _ ");
    keys.add("x".getBytes(UTF_8)); // there is room again
    assertThat(told(keys)).isEqualTo(">2 $10 invalidate *1 $1 x ");
    assertThat(taken.get()).isEqualTo(TrackedKeys.MOST_BYTES - one);
  }

  @Test
  void nothingIsNotedUntilItIsAskedFor() {
    TrackedKeys keys = new TrackedKeys(taken);
    keys.add("k".getBytes(UTF_8));
    keys.restart(true);
    keys.add("k".getBytes(UTF_8));
    keys.restart(false);
    keys.add("k".getBytes(UTF_8));
    assertThat(taken.get()).isZero();
  }
}

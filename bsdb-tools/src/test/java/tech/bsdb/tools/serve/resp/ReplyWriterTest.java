package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Replies have the bytes of the protocol, in whatever parts they are given away. */
class ReplyWriterTest {
  private final ReplyWriter out = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT);
  private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
  private final Random random = new Random(40);

  private static byte[] taken(ReplyWriter of) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    of.takeTo(
        part -> {
          byte[] bytes = new byte[part.readableBytes()];
          part.readBytes(bytes);
          part.release();
          all.writeBytes(bytes);
        });
    return all.toByteArray();
  }

  private void expect(String text) {
    expected.writeBytes(text.getBytes(ISO_8859_1));
  }

  private void bulk(int length) {
    byte[] bytes = new byte[length + 7];
    random.nextBytes(bytes);
    out.bulk(bytes, 3, length);
    expect("$" + length + "\r\n");
    expected.write(bytes, 3, length);
    expect("\r\n");
  }

  @Test
  void valuesAreWhatTheyAreWithinListsAndMaps() {
    List<?> values = List.of(7, 1L << 40, "text", new byte[] {'b'}, Map.of("key", List.of()));
    out.value(values);
    out.useResp3(true);
    out.value(values);
    String most = "*5\r\n:7\r\n:1099511627776\r\n$4\r\ntext\r\n$1\r\nb\r\n";
    expect(most + "*2\r\n$3\r\nkey\r\n*0\r\n" + most + "%1\r\n$3\r\nkey\r\n*0\r\n");
    assertThat(taken(out)).isEqualTo(expected.toByteArray());
  }

  @Test
  void bulkStringsOfAllLengths() {
    for (int length = 0; length < 1100; length++) {
      bulk(length);
    }
    for (int length : new int[] {65_535, 65_536, 65_537, 0, 200_000, 1}) {
      bulk(length);
    }
    byte[] alone = new byte[65_537];
    out.bulkAlone(alone);
    expect("$65537\r\n" + new String(alone, ISO_8859_1) + "\r\n");
    assertThat(out.length()).isEqualTo(expected.size());
    assertThat(taken(out)).isEqualTo(expected.toByteArray());
    assertThat(out.length()).isZero();
    assertThat(taken(out)).isEmpty();
  }

  @Test
  void aLongReplyOfShortStrings() {
    out.array(100);
    expect("*100\r\n");
    for (int i = 0; i < 100; i++) {
      bulk(60_000);
    }
    assertThat(out.length()).isEqualTo(expected.size());
    assertThat(taken(out)).isEqualTo(expected.toByteArray());
  }

  @Test
  void aReplyIsTakenBackHoweverLongItIs() {
    out.ok();
    int start = out.length();
    out.array(3);
    out.bulk("some");
    out.truncate(start);
    out.error("ERR a\r\nb");
    expect("+OK\r\n-ERR a  b\r\n");
    bulk(70_000);
    start = out.length();
    out.integer(Long.MIN_VALUE);
    out.bulkAlone(new byte[100_000]);
    out.bulkAlone(new byte[80_000]);
    out.bulk("behind them");
    out.truncate(start);
    assertThat(out.length()).isEqualTo(start);
    out.integer(-12);
    expect(":-12\r\n");
    int taken = out.taken();
    assertThat(taken(out)).isEqualTo(expected.toByteArray());
    assertThat(out.taken()).isNotEqualTo(taken);
  }

  @Test
  void writersThatAreFilledInTurnDoNotShareAnArray() throws InterruptedException {
    ReplyWriter other = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT);
    out.bulk("one");
    other.bulk("two");
    assertThat(taken(out)).asString(ISO_8859_1).isEqualTo("$3\r\none\r\n");
    out.bulk("three");
    other.bulk("four");
    AtomicReference<byte[]> elsewhere = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              other.bulk("five");
              elsewhere.set(taken(other));
              other.bulk("six");
            });
    thread.start();
    thread.join();
    assertThat(elsewhere.get())
        .asString(ISO_8859_1)
        .isEqualTo("$3\r\ntwo\r\n$4\r\nfour\r\n$4\r\nfive\r\n");
    assertThat(taken(out)).asString(ISO_8859_1).isEqualTo("$5\r\nthree\r\n");
    assertThat(taken(other)).asString(ISO_8859_1).isEqualTo("$3\r\nsix\r\n");
  }
}

package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class KeyListTest {
  private static void add(KeyList list, byte[] key) throws RequestRefusedException {
    list.append(key, 0, key.length);
    assertThat(list.end(KeyEncoding.TEXT)).isTrue();
  }

  @Test
  void keysStandOneBehindTheOther() throws Exception {
    KeyList list = new KeyList(10_000);
    for (int i = 0; i < 10_000; i++) {
      add(list, ("key " + i).repeat(i % 3).getBytes(UTF_8));
    }
    assertThat(list.size()).isEqualTo(10_000);
    for (int i = 0; i < 10_000; i++) {
      String expected = ("key " + i).repeat(i % 3);
      assertThat(list.key(i)).asString(UTF_8).isEqualTo(expected);
      assertThat(new String(list.bytes(), list.offset(i), list.length(i), UTF_8))
          .isEqualTo(expected);
    }
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> add(list, new byte[0]))
        .withMessage("there are more than 10000 keys in one request")
        .satisfies(e -> assertThat(e.status()).isEqualTo(413));
    assertThat(list.size()).isEqualTo(10_000);
  }

  @Test
  void aRefusedKeyLeavesNothingBehind() throws Exception {
    KeyList none = new KeyList(0);
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> add(none, "more".getBytes(UTF_8)));
    assertThat(none.size()).isZero();
    assertThat(none.openLength()).isZero();
  }

  @Test
  void whatIsNotThereIsNotGiven() throws Exception {
    KeyList list = new KeyList(2);
    add(list, new byte[1]);
    for (int wrong : new int[] {-1, 1, 2, 100}) {
      assertThatThrownBy(() -> list.key(wrong)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> list.length(wrong)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> list.offset(wrong)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> new KeyList(-1)).isInstanceOf(IllegalArgumentException.class);
  }
}

package tech.bsdb.bench;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Keys and values that tests ask for: {@code key000007} has {@code value000007}. */
final class FakeAnswers {
  private FakeAnswers() {}

  static KeySet keys(int count) {
    byte[][] keys = new byte[count][];
    byte[][] values = new byte[count][];
    for (int i = 0; i < count; i++) {
      keys[i] = bytes("key%06d", i);
      values[i] = bytes("value%06d", i);
    }
    return new KeySet(keys, values, new byte[][] {bytes("absent%d", 1)}, count, "a test");
  }

  static byte[] valueOf(byte[] key) {
    return new String(key, StandardCharsets.UTF_8)
        .replace("key", "value")
        .getBytes(StandardCharsets.UTF_8);
  }

  static RequestOrder order(KeySet keys) {
    return new RequestOrder(keys, 0, null, 0, 1, 1);
  }

  private static byte[] bytes(String form, int number) {
    return String.format(Locale.ROOT, form, number).getBytes(StandardCharsets.UTF_8);
  }
}

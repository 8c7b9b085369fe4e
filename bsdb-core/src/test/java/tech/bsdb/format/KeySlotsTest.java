package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

class KeySlotsTest {
  private static int slot(String key) {
    return KeySlots.of(key.getBytes(StandardCharsets.UTF_8));
  }

  /** CRC-16/XMODEM bit by bit, as its definition says. */
  private static int crc(byte[] bytes) {
    int crc = 0;
    for (byte each : bytes) {
      crc ^= (each & 0xFF) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ 0x1021;
      }
      crc &= 0xFFFF;
    }
    return crc;
  }

  /** The check value of the specification, and slots that a Redis server answered. */
  @Test
  void knownSlots() {
    assertThat(slot("123456789")).isEqualTo(0x31C3);
    assertThat(slot("")).isZero();
    assertThat(slot("foo")).isEqualTo(12_182);
    assertThat(slot("bar")).isEqualTo(5_061);
    assertThat(slot("somekey")).isEqualTo(11_058);
    assertThat(slot("foo{hash_tag}")).isEqualTo(2_515);
    assertThat(slot("bar{hash_tag}")).isEqualTo(2_515);
  }

  /** The examples of the specification's section on hash tags. */
  @Test
  void hashTags() {
    assertThat(slot("{user1000}.following")).isEqualTo(slot("user1000"));
    assertThat(slot("{user1000}.followers")).isEqualTo(slot("user1000"));
    assertThat(slot("foo{}{bar}"))
        .isEqualTo(crc("foo{}{bar}".getBytes(StandardCharsets.UTF_8)) % 16_384);
    assertThat(slot("foo{{bar}}zap")).isEqualTo(slot("{bar"));
    assertThat(slot("foo{bar}{zap}")).isEqualTo(slot("bar"));
    assertThat(slot("foo{bar")).isEqualTo(crc("foo{bar".getBytes(StandardCharsets.UTF_8)) % 16_384);
    assertThat(slot("foo}bar{"))
        .isEqualTo(crc("foo}bar{".getBytes(StandardCharsets.UTF_8)) % 16_384);
  }

  @Test
  void randomKeysAsDefined() {
    SplittableRandom random = Seeds.random("KeySlotsTest");
    for (int i = 0; i < 10_000; i++) {
      byte[] key = new byte[random.nextInt(40)];
      random.nextBytes(key);
      for (int at = 0; at < key.length; at++) {
        key[at] = key[at] == '{' ? 0 : key[at];
      }
      assertThat(KeySlots.of(key)).isEqualTo(crc(key) % KeySlots.COUNT);
      byte[] inside = new byte[key.length + 7];
      System.arraycopy(key, 0, inside, 3, key.length);
      assertThat(KeySlots.of(inside, 3, key.length)).isEqualTo(KeySlots.of(key));
    }
  }

  /** A tag is found wherever it starts and ends in the key. */
  @Test
  void tagsInAllPlaces() {
    for (int length = 3; length <= 40; length++) {
      for (int open = 0; open < length - 2; open++) {
        for (int close = open + 2; close < length; close++) {
          byte[] key = new byte[length];
          for (int at = 0; at < length; at++) {
            key[at] = (byte) (at + 1);
          }
          key[open] = '{';
          key[close] = '}';
          byte[] tag = Arrays.copyOfRange(key, open + 1, close);
          assertThat(KeySlots.of(key)).isEqualTo(crc(tag) % KeySlots.COUNT);
          key[close] = '{';
          assertThat(KeySlots.of(key)).isEqualTo(crc(key) % KeySlots.COUNT);
        }
      }
    }
  }

  /** Every slot lies in the range of its shard, for every number of shards. */
  @Test
  void shardsAreRangesOfSlots() {
    for (int shards = 1; shards <= KeySlots.COUNT; shards += shards < 100 ? 1 : 997) {
      check(shards);
    }
    check(KeySlots.COUNT);
  }

  private static void check(int shards) {
    assertThat(KeySlots.first(0, shards)).isZero();
    assertThat(KeySlots.first(shards, shards)).isEqualTo(KeySlots.COUNT);
    for (int slot = 0; slot < KeySlots.COUNT; slot++) {
      int shard = KeySlots.shard(slot, shards);
      if (slot < KeySlots.first(shard, shards) || slot >= KeySlots.first(shard + 1, shards)) {
        throw new AssertionError("slot " + slot + " of " + shards + " shards in " + shard);
      }
    }
    int least = KeySlots.COUNT / shards;
    for (int shard = 0; shard < shards; shard++) {
      int slots = KeySlots.first(shard + 1, shards) - KeySlots.first(shard, shards);
      assertThat(slots).isBetween(least, least + 1);
    }
  }
}

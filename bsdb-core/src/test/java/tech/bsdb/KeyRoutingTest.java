package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The public routing of keys. */
class KeyRoutingTest {
  /** As CLUSTER KEYSLOT of Redis 7 answers. */
  @ParameterizedTest
  @CsvSource({
    "foo, 12182",
    "somekey, 11058",
    "foo{hash_tag}, 2515",
    "bar{hash_tag}, 2515",
    "{}bar, 6479",
    "123456789, 12739"
  })
  void slotsAreThoseOfRedisCluster(String key, int slot) {
    byte[] bytes = key.getBytes(UTF_8);
    byte[] within = ("--" + key + "-").getBytes(UTF_8);
    assertThat(KeyRouting.slot(bytes)).isEqualTo(slot);
    assertThat(KeyRouting.slot(within, 2, bytes.length)).isEqualTo(slot);
  }

  @Test
  void shardsDivideTheSlots() {
    for (int shards : new int[] {1, 2, 3, 7, 64, KeyRouting.SLOTS}) {
      assertThat(KeyRouting.firstSlot(0, shards)).isZero();
      assertThat(KeyRouting.firstSlot(shards, shards)).isEqualTo(KeyRouting.SLOTS);
      for (int shard = 0; shard < shards; shard++) {
        assertThat(KeyRouting.firstSlot(shard, shards))
            .isLessThan(KeyRouting.firstSlot(shard + 1, shards));
      }
    }
    for (int[] wrong : new int[][] {{-1, 2}, {3, 2}, {0, 0}, {0, KeyRouting.SLOTS + 1}}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> KeyRouting.firstSlot(wrong[0], wrong[1]));
    }
  }
}

package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.io.Engines;

/** A lookup asks for memory before it takes it, and ends when it is refused. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryBudgetTest {
  private static final int[] LENGTHS = {0, 10, 5_000, 100_000, 400_000, 3_000_000};

  @TempDir Path folder;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    byte[] value = new byte[LENGTHS[i]];
    new Random(i).nextBytes(value);
    return value;
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, MAPPED", "BLOCKED, BUFFERED", "BLOCKED, DIRECT", "BLOCKED, IO_URING",
    "COMPACT, BUFFERED", "COMPACT, IO_URING", "COMPRESSED, MAPPED", "COMPRESSED, IO_URING",
    "PACKED_COMPRESSED, MAPPED", "PACKED_COMPRESSED, BUFFERED", "PACKED_COMPRESSED, IO_URING"
  })
  void everyValueIsAskedForBeforeItIsThere(Layout layout, OpenOptions.Engine engine)
      throws Exception {
    Path directory = folder.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(directory, BuildOptions.defaults().withLayout(layout))) {
      for (int i = 0; i < LENGTHS.length; i++) {
        builder.add(key(i), value(i));
      }
      builder.finish();
    }
    String name = engine.name().toLowerCase(Locale.ROOT);
    String missing = Engines.unavailable(name, directory);
    assumeTrue(missing == null, missing);
    try (Database database = Database.open(directory, OpenOptions.defaults().withEngine(engine))) {
      for (int round = 0; round < 2; round++) { // the second from memory, where it is mapped
        for (int i = 0; i < LENGTHS.length; i++) {
          refusedThenAnswered(database, i);
        }
        batchRefusedThenAnswered(database);
      }
      assertThat(database.get("absent".getBytes(UTF_8), bytes -> true)).isNull();
    }
  }

  private static void refusedThenAnswered(Database database, int i) throws Exception {
    byte[] key = key(i);
    byte[] value = value(i);
    AtomicLong asked = new AtomicLong();
    MemoryBudget counting =
        bytes -> {
          asked.addAndGet(bytes);
          return true;
        };
    MemoryBudget tooSmall = bytes -> bytes < value.length;
    assertThat(database.get(key, counting)).isEqualTo(value);
    assertThat(asked.get()).isBetween((long) value.length, 4L * value.length + (2 << 20));
    asked.set(0);
    assertThat(database.getAsync(key, counting).get(60, TimeUnit.SECONDS)).isEqualTo(value);
    assertThat(asked.get()).isBetween((long) value.length, 4L * value.length + (2 << 20));
    assertThatThrownBy(() -> database.get(key, tooSmall))
        .isInstanceOf(MemoryBudgetExceededException.class);
    assertThatThrownBy(() -> database.getAsync(key, tooSmall).get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(MemoryBudgetExceededException.class);
    assertThat(database.get(key)).isEqualTo(value); // no budget is left behind
    assertThat(database.getAsync(key).get(60, TimeUnit.SECONDS)).isEqualTo(value);
  }

  private static void batchRefusedThenAnswered(Database database) throws Exception {
    LookupBatch batch = database.batch();
    for (int i = 0; i < LENGTHS.length; i++) {
      batch.add(key(i));
    }
    batch.use(bytes -> bytes < 1_000_000);
    assertThatThrownBy(batch::get).isInstanceOf(MemoryBudgetExceededException.class);
    batch.use(bytes -> true);
    batch.get();
    for (int i = 0; i < LENGTHS.length; i++) {
      assertThat(batch.value(i)).isEqualTo(value(i));
    }
    LookupBatch another = database.batch(); // whose array has not grown yet
    AtomicLong asked = new AtomicLong();
    another.use(
        bytes -> {
          asked.addAndGet(bytes);
          return true;
        });
    for (int i = 0; i < LENGTHS.length; i++) {
      another.add(key(i));
    }
    another.get();
    assertThat(asked.get()).isGreaterThanOrEqualTo(3_000_000);
  }
}

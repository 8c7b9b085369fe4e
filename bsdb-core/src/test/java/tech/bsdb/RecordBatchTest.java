package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Batches: filled by any thread, added in their order, used again, and not harmed by a bad call.
 */
class RecordBatchTest {
  @TempDir Path directory;

  @Test
  void recordsLieAnywhereInTheCallersArrays() throws Exception {
    Path target = directory.resolve("db");
    byte[] array = Truth.utf8("__key___value__");
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
      RecordBatch batch = builder.newBatch();
      batch.add(array, 2, 3, array, 8, 5);
      array[2] = 'X'; // the arrays are the caller's again
      assertThat(batch.records()).isOne();
      assertThat(batch.bytes()).isEqualTo(8);
      builder.add(batch);
      batch.clear();
      batch.add(array, 2, 3, array, 0, 0);
      builder.add(batch);
      builder.finish();
    }
    new Truth().add("key", "value").add("Xey", "").check(target);
  }

  @Test
  void batchesAndSingleRecordsKeepTheirOrder() throws Exception {
    SplittableRandom random = Seeds.random("RecordBatchTest");
    Truth truth = Truth.random(random, 20_000, 400);
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, BuildOptions.defaults().withLayout(Layout.BLOCKED))) {
      RecordBatch batch = builder.newBatch();
      int next = 0;
      while (next < truth.records().size()) {
        boolean single = random.nextBoolean();
        int until = Math.min(truth.records().size(), next + random.nextInt(single ? 300 : 3000));
        for (; next < until; next++) {
          Truth.Entry record = truth.records().get(next);
          if (single) {
            builder.add(record.key(), record.value());
          } else {
            batch.add(
                record.key(), 0, record.key().length, record.value(), 0, record.value().length);
          }
        }
        builder.add(batch); // an empty one, too
        batch.clear();
      }
      builder.finish();
    }
    truth.check(target);
  }

  @Test
  void threadsFillBatchesAtOnce() throws Exception {
    int batches = 40;
    ExecutorService pool = Executors.newFixedThreadPool(4);
    Truth truth = new Truth();
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
      List<Future<RecordBatch>> filled = new ArrayList<>();
      for (int i = 0; i < batches; i++) {
        int own = i;
        Callable<RecordBatch> fill =
            () -> {
              RecordBatch batch = builder.newBatch();
              for (int j = 0; j < 500; j++) {
                byte[] key = Truth.utf8(own + "/" + j);
                batch.add(key, 0, key.length, key, 0, key.length);
              }
              return batch;
            };
        filled.add(pool.submit(fill));
        for (int j = 0; j < 500; j++) {
          truth.add(own + "/" + j, own + "/" + j);
        }
      }
      for (Future<RecordBatch> batch : filled) {
        builder.add(batch.get());
      }
      builder.finish();
    } finally {
      pool.shutdownNow();
    }
    truth.check(target);
  }

  @Test
  void lengthsBeyondTheLimitsAreNamed() {
    RecordBatch batch = new RecordBatch();
    assertThatThrownBy(() -> batch.add(new byte[65_536], 0, 65_536, new byte[0], 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536")
        .hasMessageContaining("65535");
    assertThat(batch.records()).isZero();
  }

  @Test
  void aBatchForAnotherSeedIsRefusedAndTheBuildGoesOn() throws Exception {
    byte[] key = Truth.utf8("key");
    Path target = directory.resolve("db");
    BuildOptions options = BuildOptions.defaults().withSeed(5);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      RecordBatch foreign = new RecordBatch();
      foreign.add(key, 0, key.length, key, 0, key.length);
      assertThatThrownBy(() -> builder.add(foreign))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("seed 0")
          .hasMessageContaining("5");
      RecordBatch own = builder.newBatch();
      own.add(key, 0, key.length, key, 0, key.length);
      builder.add(own);
      builder.finish();
    }
    new Truth().add("key", "key").check(target);
  }

  @Test
  void aRefusedRecordHarmsNoOther() throws Exception {
    Path target = directory.resolve("db");
    byte[] ten = new byte[10];
    byte[] large = new byte[70_000];
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
      RecordBatch batch = builder.newBatch();
      for (int i = 0; i < 10; i++) {
        byte[] key = Truth.utf8("key " + i);
        batch.add(key, 0, key.length, key, 0, key.length);
        refused(batch, ten, 5, 6, ten, 0, 1);
        refused(batch, ten, -1, 3, ten, 0, 1);
        refused(batch, ten, 0, -1, ten, 0, 1);
        refused(batch, ten, 0, 3, ten, 0, -1);
        refused(batch, ten, 0, 3, ten, 5, 6);
        refused(batch, ten, 0, 3, ten, -1, 6);
        refused(batch, ten, 0, 3, large, 1, 70_000);
        refused(batch, ten, 0, 3, large, 70_000, 66_000);
      }
      assertThat(batch.records()).isEqualTo(10);
      builder.add(batch);
      builder.finish();
    }
    Truth truth = new Truth();
    for (int i = 0; i < 10; i++) {
      truth.add("key " + i, "key " + i);
    }
    truth.check(target);
  }

  private static void refused(
      RecordBatch batch,
      byte[] key,
      int keyFrom,
      int keyLength,
      byte[] value,
      int valueFrom,
      int valueLength) {
    assertThatThrownBy(() -> batch.add(key, keyFrom, keyLength, value, valueFrom, valueLength))
        .isInstanceOfAny(IndexOutOfBoundsException.class, IllegalArgumentException.class);
  }
}

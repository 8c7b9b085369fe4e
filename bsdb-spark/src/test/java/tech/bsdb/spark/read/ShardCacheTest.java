package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.spark.ElsewhereFileSystem;
import tech.bsdb.spark.read.ShardCache.Lease;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.TransferOptions;

/** Copies of distant databases. */
class ShardCacheTest {
  private static final long ENOUGH = Long.MAX_VALUE;

  @TempDir Path directory;
  private final Configuration configuration = new Configuration();
  private Path kept = Path.of("");
  private ShardCache cache = ShardCache.ofProcess();

  @BeforeEach
  void create() throws IOException {
    configuration.set("fs.elsewhere.impl", ElsewhereFileSystem.class.getName());
    kept = Files.createDirectory(directory.resolve("kept"));
    TransferOptions once = TransferOptions.defaults().withAttempts(1, Duration.ZERO);
    cache = new ShardCache(() -> kept, once);
  }

  private ShardPlace place(String name, int records) throws Exception {
    Path database = Stored.plain(directory.resolve(name), records, BuildOptions.defaults());
    String id = Database.statistics(database).databaseId();
    return new ShardPlace("elsewhere://" + database, "", id, 0, records, 50_000);
  }

  private Lease lease(ShardPlace place, long mostBytes) throws IOException {
    return lease(place, mostBytes, () -> {});
  }

  private Lease lease(ShardPlace place, long mostBytes, Runnable checkRunning) throws IOException {
    try (DistantDirectory origin = DistantDirectory.open(place.location(), configuration)) {
      return cache.lease(place, origin, mostBytes, checkRunning);
    }
  }

  private int copies() throws IOException {
    try (Stream<Path> all = Files.list(kept)) {
      return (int) all.count();
    }
  }

  private static void assertReads(Lease lease) throws IOException {
    assertThat(lease.database().get("k1".getBytes(UTF_8))).isEqualTo("v1".getBytes(UTF_8));
  }

  @Test
  void tasksShareOneCopy() throws Exception {
    ShardPlace place = place("db", 100);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Future<Lease>> tasks = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        tasks.add(threads.submit(() -> lease(place, ENOUGH)));
      }
      Set<Database> opened = new HashSet<>();
      for (Future<Lease> task : tasks) {
        try (Lease lease = task.get()) {
          assertReads(lease);
          opened.add(lease.database());
        }
      }
      assertThat(opened).hasSize(1);
      assertThat(copies()).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void whatNobodyReadsMakesRoomAndOnlyThat() throws Exception {
    ShardPlace first = place("first", 10);
    ShardPlace second = place("second", 20);
    ShardPlace third = place("third", 30);
    Lease read = lease(first, 1);
    lease(second, 1).close();
    assertThat(copies()).isEqualTo(2); // the first is being read
    lease(third, 1).close();
    assertThat(copies()).isEqualTo(2);
    assertReads(read);
    read.close();
    read.close();
    lease(second, ENOUGH).close(); // which was removed
    assertThat(copies()).isEqualTo(3);
  }

  @Test
  void aCancelledTaskLeavesTheDownloadToTheNext() throws Exception {
    ShardPlace place = place("db", 40);
    assertThatThrownBy(
            () ->
                lease(
                    place,
                    ENOUGH,
                    () -> {
                      throw new IllegalStateException("killed");
                    }))
        .hasMessage("killed");
    try (Lease lease = lease(place, ENOUGH)) {
      assertReads(lease);
    }
  }

  @Test
  void aFullDiskIsNamedAndLeavesNothing() throws Exception {
    assumeTrue(FullDisk.works(), "needs a device that is full: /dev/full");
    FullDisk disk = new FullDisk("data-");
    Path root = disk.of(kept);
    cache = new ShardCache(() -> root, TransferOptions.defaults());
    ShardPlace place = place("db", 60);
    assertThatThrownBy(() -> lease(place, ENOUGH))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(place + " cannot be copied to this machine: " + kept)
        .hasMessageContaining("/data-000-")
        .hasMessageContaining(": No space left on device. Copies are below " + kept)
        .hasMessageContaining("spark.local.dir");
    assertThat(copies()).isZero();
    assertThat(cache.leaseIfHere(place)).isNull();

    disk.makeRoom();
    try (Lease lease = lease(place, ENOUGH)) {
      assertReads(lease);
    }
  }

  @Test
  void damageIsNoCopy() throws Exception {
    ShardPlace place = place("db", 50);
    Path data;
    try (Stream<Path> files = Files.list(directory.resolve("db"))) {
      data = files.filter(file -> file.toString().contains("data-")).findFirst().orElseThrow();
    }
    byte[] good = Files.readAllBytes(data);
    byte[] bad = good.clone();
    bad[4096] ^= 1;
    Files.write(data, bad);
    assertThatThrownBy(() -> lease(place, ENOUGH)).hasMessageContaining("data-000-");
    Files.write(data, good);
    try (Lease lease = lease(place, ENOUGH)) {
      assertReads(lease);
    }
  }
}

package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.MemoryUse;
import tech.bsdb.OpenOptions;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.Memory;

/** A database that is loaded into memory needs its files no more. */
@Tag("jdk")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoadedDatabaseTest {
  private static final OpenOptions LOADED =
      OpenOptions.defaults().withEngine(OpenOptions.Engine.MEMORY);

  @TempDir Path directory;

  private final Truth truth = new Truth();
  private Path target;

  @BeforeEach
  void build() throws IOException {
    SplittableRandom random = Seeds.random("LoadedDatabaseTest");
    target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            target, BuildOptions.defaults().withLayout(Layout.BLOCKED).withDataFiles(3))) {
      for (int i = 0; i < 3000; i++) {
        byte[] key = ("key" + i).getBytes(StandardCharsets.UTF_8);
        byte[] value = Truth.bytes(random, random.nextInt(100) == 0 ? 9000 : 40);
        builder.add(key, value);
        truth.add(key, value);
        truth.absent(("no" + i).getBytes(StandardCharsets.UTF_8));
      }
      builder.finish();
    }
  }

  @Test
  void nothingIsMappedAndNoLookupReadsOnceItIsOpen() throws Exception {
    try (Database database = Database.open(target, LOADED)) {
      assertThat(Leaks.openFiles(directory))
          .as("held for scans alone")
          .allMatch(file -> file.contains("/data-"));
      assertThat(Leaks.mappings(directory)).isEmpty();
      assertThat(database.statistics().engine()).isEqualTo("memory (as asked)");
      try (Stream<Path> files = Files.list(target)) {
        for (Path file : files.toList()) {
          Files.write(file, new byte[10]); // cut short and overwritten: a mapping would fault
        }
      }
      truth.checkGets(database);
      truth.checkBatches(database);
      assertThat(database.ioCounters().reads()).isZero();
    }
    Leaks.assertNone(directory);
  }

  @Test
  void itTellsHowMuchMemoryItTakes() throws Exception {
    try (Database database = Database.open(target, LOADED)) {
      MemoryUse use = database.memoryUse();
      if (Memory.heedsAdvice()) {
        long bytes =
            database.statistics().hashBytes()
                + database.statistics().indexBytes()
                + database.statistics().dataBytes();
        assertThat(use.bytes()).isEqualTo(bytes);
        assertThat(use.residentBytes()).isEqualTo(bytes);
        assertThat(use.hugePageBytes()).isBetween(0L, bytes);
      } else {
        assertThat(use).isEqualTo(MemoryUse.NONE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"hash", "index", "data"})
  void damageIsFoundAtOpening(String kind) throws Exception {
    Path file;
    try (Stream<Path> files = Files.list(target)) {
      file =
          files
              .filter(path -> path.getFileName().toString().startsWith(kind))
              .findFirst()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 4096 / 2 * 4096 + 100] ^= 4;
    Files.write(file, bytes);
    assertThatThrownBy(() -> Database.open(target, LOADED).close())
        .isInstanceOfSatisfying(
            CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(file));
    Leaks.assertNone(directory);
  }

  @Test
  void aMachineWithTooLittleMemoryIsNamedWithBothNumbers() throws Exception {
    long bytes = Database.statistics(target).databaseBytes() - 3 * 4096; // without the manifest
    EngineChoice tooSmall = EngineChoice.always(LoadedEngine.within(() -> bytes - 1));
    assertThatThrownBy(() -> Lookup.open(target, tooSmall, true).close())
        .isExactlyInstanceOf(IOException.class)
        .hasMessageContaining(target.toString())
        .hasMessageContaining(String.format(Locale.ROOT, "%,d", bytes))
        .hasMessageContaining(String.format(Locale.ROOT, "%,d", bytes - 1));
    Leaks.assertNone(directory);
    EngineChoice enough = EngineChoice.always(LoadedEngine.within(() -> bytes));
    try (Lookup lookup = Lookup.open(target, enough, true)) {
      assertThat(lookup.get("key1".getBytes(StandardCharsets.UTF_8))).isNotNull();
    }
  }
}

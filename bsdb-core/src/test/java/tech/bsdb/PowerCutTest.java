package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.Store;

/**
 * Power cuts after every single change that a build or a publication makes, with what was not
 * forced to the device lost, kept, or partly kept: the old database is there whole, or the new one;
 * after the call has returned, the new one.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PowerCutTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PowerCutTest");
  private final Truth old = new Truth().add("key", "old").add("gone", "x");
  private final Truth fresh = new Truth().add("key", "new").absent(Truth.utf8("gone"));
  private final List<WatchedFiles.Change> changes = Collections.synchronizedList(new ArrayList<>());

  /** What is on the disk before. */
  private Path disk() throws IOException {
    return Files.createDirectories(directory.resolve("disk")).toRealPath();
  }

  private Path watched(Path path) {
    return WatchedFiles.watch(path, changes::add);
  }

  /** Something that can be told of what a power cut left. */
  @FunctionalInterface
  private interface Check {
    /**
     * Looks at it.
     *
     * @param left what is on the disk
     * @param returned whether the call had returned, so that the new database must be there
     */
    void look(Path left, boolean returned) throws IOException;
  }

  /** Cuts the power after every change. */
  private void cutEverywhere(PowerCuts disk, Check check) throws IOException {
    Path left = directory.resolve("left");
    for (int done = 0; done <= changes.size(); done++) {
      boolean returned = done == changes.size();
      List<BooleanSupplier> kinds = new ArrayList<>(List.of(() -> false, () -> true));
      for (int i = 0; i < (returned ? 8 : 1); i++) {
        SplittableRandom partly = random.split();
        kinds.add(partly::nextBoolean);
      }
      for (BooleanSupplier keeps : kinds) {
        disk.cut(left, keeps);
        try {
          check.look(left, returned);
        } catch (IOException | RuntimeException | AssertionError e) {
          throw new AssertionError(
              "after " + done + " of " + changes.size() + " changes: " + Leaks.tree(left), e);
        }
      }
      if (!returned) {
        disk.apply(changes.get(done));
      }
    }
  }

  /** Fails unless it is the one database or the other, whole. */
  private void isOldOrNew(Path database, boolean mustBeNew) throws IOException {
    Database.verify(database, (done, all) -> {});
    byte @Nullable [] value;
    try (Database opened = Database.open(database)) {
      value = opened.get(Truth.utf8("key"));
    }
    boolean isOld = !mustBeNew && java.util.Arrays.equals(value, Truth.utf8("old"));
    (isOld ? old : fresh).check(database);
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, false",
    "BLOCKED, true",
    "PACKED, false",
    "PACKED_COMPRESSED, true",
  })
  void aNewDatabase(Layout layout, boolean temporary) throws Exception {
    Path disk = disk();
    PowerCuts cuts = new PowerCuts(disk);
    BuildOptions options = BuildOptions.defaults().withLayout(layout).withDataFiles(2);
    Path target = watched(disk.resolve("made/deep/db"));
    fresh.build(
        target, temporary ? options.withTemporaryDirectory(watched(disk.resolve("t"))) : options);
    cutEverywhere(
        cuts,
        (left, returned) -> {
          Path database = left.resolve("made/deep/db");
          if (returned || Files.exists(database)) {
            isOldOrNew(database, true);
          }
        });
  }

  @Test
  void anOverwrite() throws Exception {
    Path disk = disk();
    old.build(disk.resolve("db"), BuildOptions.defaults().withDataFiles(2));
    PowerCuts cuts = new PowerCuts(disk);
    BuildOptions options = BuildOptions.defaults().withDataFiles(3).withOverwrite(true);
    fresh.build(watched(disk.resolve("db")), options);
    int[] next = new int[1];
    cutEverywhere(
        cuts,
        (left, returned) -> {
          isOldOrNew(left.resolve("db"), returned);
          if (next[0]++ % 10 == 0) { // and the next build is not disturbed
            old.build(left.resolve("db"), options);
            old.check(left.resolve("db"));
          }
        });
  }

  @Test
  void aPublication() throws Exception {
    Path disk = disk();
    Path first = directory.resolve("first");
    old.build(first, BuildOptions.defaults());
    Path second = directory.resolve("second");
    fresh.build(second, BuildOptions.defaults().withDataFiles(2));
    for (boolean firstVersion : new boolean[] {true, false}) {
      changes.clear();
      Path store = disk.resolve(firstVersion ? "deep/one" : "two");
      if (!firstVersion) {
        publish(first, store, "v1");
      }
      PowerCuts cuts = new PowerCuts(disk);
      publish(second, watched(store), "v2");
      int[] next = new int[1];
      cutEverywhere(
          cuts,
          (left, returned) -> {
            Path there = left.resolve(disk.relativize(store));
            if (returned || !firstVersion || Files.exists(there.resolve("CURRENT"))) {
              String current = Store.open(there).current();
              assertThat(current).isIn("v1", "v2");
              isOldOrNew(there.resolve(String.valueOf(current)), returned);
              assertThat(current).isEqualTo(holdsNew(there.resolve(current)) ? "v2" : "v1");
            }
            if (!returned && next[0]++ % 10 == 0) {
              retry(second, there);
            }
          });
    }
  }

  private static boolean holdsNew(Path version) throws IOException {
    try (Database database = Database.open(version)) {
      return database.get(Truth.utf8("gone")) == null;
    }
  }

  /** Publishes under the same name, unless that is current already. */
  private void retry(Path database, Path store) throws IOException {
    boolean live = Store.isStore(store) && "v2".equals(Store.open(store).current());
    if (!live) {
      publish(database, store, "v2");
      assertThat(Store.open(store).current()).isEqualTo("v2");
      fresh.check(store.resolve("v2"));
    }
  }

  private static void publish(Path database, Path store, String version) throws IOException {
    PublishOptions options = PublishOptions.defaults().withVersion(version);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      publication.verify();
      assertThat(publication.goLive(publication.current())).isTrue();
      assertThat(publication.warnings()).isEmpty();
    }
  }
}

package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Leaks;
import tech.bsdb.Truth;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ShardSet;

/**
 * A set of shards made by hand: the directory of each shard holds a small undivided database. A set
 * of one shard is that database alone, without a directory of a shard. For tests of what handles
 * files.
 */
public final class CraftedSet {
  private final Path original;
  private final List<String> values;
  private final List<String> databases;

  private CraftedSet(Path original, List<String> values, List<String> databases) {
    this.original = original;
    this.values = values;
    this.databases = databases;
  }

  /**
   * Makes a set.
   *
   * @param scratch an existing directory in which it is made
   * @param values the values of the key {@code key} in each shard
   */
  public static CraftedSet make(Path scratch, String... values) throws IOException {
    Path directory = Files.createTempDirectory(scratch, "set");
    List<ShardSet.Shard> shards = new ArrayList<>();
    List<String> databases = new ArrayList<>();
    for (String value : values) {
      Path built = directory.resolve("built");
      new Truth().add("key", value).build(built, BuildOptions.defaults().withDataFiles(2));
      if (values.length == 1) {
        return new CraftedSet(built, List.of(values), List.of(""));
      }
      ShardSet.Shard shard = new ShardSet.Shard(shards.size(), ListedFiles.read(built).id(), 1);
      Files.move(built, directory.resolve(shard.directoryName()));
      databases.add(shard.directoryName());
      shards.add(shard);
    }
    writeManifest(directory, shards);
    return new CraftedSet(directory, List.of(values), databases);
  }

  /** Writes the manifest of a set. */
  static void writeManifest(Path directory, List<ShardSet.Shard> shards) throws IOException {
    byte[] file = ManifestFile.encode(ShardSet.of(shards).manifest());
    Files.write(directory.resolve(Manifest.FILE_NAME), file);
  }

  /** The directory names of the shards; that of a database is empty. */
  public List<String> shards() {
    return databases;
  }

  /** The names of all files, relative to the directory. */
  public List<String> files() throws IOException {
    return Leaks.tree(original).stream().filter(name -> name.endsWith(".bsdb")).toList();
  }

  /** The name of a data file of a shard, relative to the directory. */
  String dataFile(int shard) throws IOException {
    return files().stream()
        .filter(name -> ListedFiles.shard(name).equals(databases.get(shard)))
        .filter(name -> name.contains("data-001"))
        .findAny()
        .orElseThrow();
  }

  /** Writes all files into an existing directory, forced to the device. */
  public void copyTo(Path directory) throws IOException {
    for (String name : files()) {
      Path file = directory.resolve(name);
      if (!Files.exists(file.getParent())) {
        Files.createDirectory(file.getParent());
      }
      try (FileChannel out =
          FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        out.write(ByteBuffer.wrap(Files.readAllBytes(original.resolve(name))));
        out.force(true);
      }
    }
  }

  /** Publishes it as a build does, and returns the warnings. */
  List<String> publish(Path target) throws IOException {
    Workspace workspace = Workspace.create(target, true, null);
    try (workspace) {
      copyTo(workspace.directory());
      workspace.publish(() -> {});
    }
    return workspace.warnings();
  }

  /** Fails unless a directory holds it whole, and besides it just the given entries. */
  public void check(Path directory, String... others) throws IOException {
    checkFiles(directory);
    Set<String> expected = new LinkedHashSet<>(files());
    if (values.size() > 1) {
      expected.addAll(databases);
    }
    expected.addAll(List.of(others));
    assertThat(Leaks.tree(directory)).containsExactlyInAnyOrderElementsOf(expected);
  }

  /** Fails unless a directory holds it whole; other files may be there. */
  void checkFiles(Path directory) throws IOException {
    assertThat(isAt(directory)).isTrue();
    for (int i = 0; i < values.size(); i++) {
      Path shard = directory.resolve(databases.get(i));
      Database.verify(shard, (done, all) -> {});
      try (Database database = Database.open(shard)) {
        assertThat(database.get(Truth.utf8("key"))).isEqualTo(Truth.utf8(values.get(i)));
      }
    }
  }

  /** Whether a directory has its manifest. */
  boolean isAt(Path directory) throws IOException {
    return ListedFiles.read(directory).id().equals(ListedFiles.read(original).id());
  }
}

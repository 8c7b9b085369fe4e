package tech.bsdb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.ShardSet;

/** Writes databases and sets with other manifests, with every checksum right. */
public final class Forgery {
  private Forgery() {}

  /** The lines of a directory's manifest. */
  public static List<String> lines(Path directory) throws IOException {
    String text = new String(decode(directory).manifest().encode(), StandardCharsets.UTF_8);
    return new ArrayList<>(Arrays.asList(text.split("\n")));
  }

  /** The lines of a database's manifest as older writers wrote them. */
  public static List<String> withoutHashes(Path directory) throws IOException {
    List<String> lines = lines(directory);
    if (!lines.removeIf(line -> line.startsWith("file.sha256="))) {
      throw new AssertionError(directory + " has no content hashes");
    }
    return lines;
  }

  private static ManifestFile decode(Path directory) throws IOException {
    Path file = Database.manifest(directory);
    return ManifestFile.decode(file, Files.readAllBytes(file));
  }

  /** The facts of a set. */
  public static ShardSet set(Path directory) throws IOException {
    return ShardSet.of(decode(directory).manifest());
  }

  /** Writes the manifest of the given lines, and returns the id that it gives. */
  public static DatabaseId manifest(Path directory, List<String> lines) throws IOException {
    byte[] text = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    Files.write(Database.manifest(directory), ManifestFile.encode(text));
    return DatabaseId.derive(text);
  }

  /**
   * Writes a copy of a database with another manifest, and all headers and footers as that wants
   * them.
   *
   * @param forged an existing directory
   * @return the id of the copy
   */
  public static DatabaseId database(Path original, List<String> lines, Path forged)
      throws IOException {
    DatabaseDirectory opened = DataSet.open(original).single();
    DatabaseId id = manifest(forged, lines);
    for (FileEntry entry : opened.manifest().files()) {
      byte[] bytes = Files.readAllBytes(opened.file(entry));
      FileFrame frame = new FileFrame(entry.file(), id, entry.pages(), entry.digest());
      System.arraycopy(frame.header(), 0, bytes, 0, Page.SIZE);
      System.arraycopy(frame.footer(), 0, bytes, bytes.length - Page.SIZE, Page.SIZE);
      Files.write(forged.resolve(entry.name(id)), bytes);
    }
    return id;
  }

  /** The lines of an undivided database's manifest, as a shard of a set would have them. */
  public static List<String> asShard(List<String> lines, int number, int count) {
    List<String> shard = new ArrayList<>(lines);
    shard.replaceAll(
        line ->
            switch (line.substring(0, Math.max(0, line.indexOf('=')))) {
              case "shard.number" -> "shard.number=" + number;
              case "shard.count" -> "shard.count=" + count;
              case "shard.hash" -> "shard.hash=" + KeySlots.NAME;
              default -> line;
            });
    return shard;
  }

  /** The lines with another value of a fact. */
  public static List<String> with(List<String> lines, String name, String value) {
    List<String> changed = new ArrayList<>(lines);
    changed.replaceAll(line -> line.startsWith(name + "=") ? name + "=" + value : line);
    return changed;
  }

  /**
   * Writes a copy of one shard into a set, with another manifest.
   *
   * @return the entry for the manifest of the set
   */
  public static ShardSet.Shard shard(
      Path original, List<String> lines, Path set, int number, long records) throws IOException {
    Path scratch = Files.createTempDirectory(set, ".forged");
    DatabaseId id = database(original, lines, scratch);
    ShardSet.Shard shard = new ShardSet.Shard(number, id, records);
    Files.move(scratch, set.resolve(shard.directoryName()));
    return shard;
  }

  /** Writes the manifest of a set of shards that are in its directory already. */
  public static void set(Path set, List<ShardSet.Shard> shards) throws IOException {
    String text = new String(ShardSet.of(shards).manifest().encode(), StandardCharsets.UTF_8);
    manifest(set, List.of(text.split("\n")));
  }

  /**
   * Copies a set, or a part of it, with some of its shards.
   *
   * @param numbers the numbers of these shards
   */
  public static Path part(Path set, Path target, Integer... numbers) throws IOException {
    ManifestFile whole = decode(set);
    ShardSet held = ShardSet.of(whole.manifest());
    ShardSet part =
        held.holding(held.isWhole() ? whole.id() : held.whole(), Arrays.asList(numbers));
    Files.createDirectories(target);
    for (ShardSet.Shard shard : part.heldShards()) {
      copyTree(set.resolve(shard.directoryName()), target.resolve(shard.directoryName()));
    }
    Files.write(Database.manifest(target), ManifestFile.encode(part.manifest()));
    return target;
  }

  /** The directories of the shards that a set holds, by number. */
  public static List<Path> shards(Path set) throws IOException {
    return set(set).heldShards().stream().map(shard -> set.resolve(shard.directoryName())).toList();
  }

  /** Copies a directory with all that is in it to a new one. */
  public static Path copyTree(Path source, Path target) throws IOException {
    Files.createDirectories(target);
    for (String name : Leaks.tree(source)) {
      Files.copy(source.resolve(name), target.resolve(name));
    }
    return target;
  }

  /** Deletes a directory with all that is in it. */
  public static void deleteTree(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}

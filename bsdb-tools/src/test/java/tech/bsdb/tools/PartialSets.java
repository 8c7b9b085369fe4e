package tech.bsdb.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import tech.bsdb.Database;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ShardSet;

/** Copies of whole sets with some of their shards. */
public final class PartialSets {
  private PartialSets() {}

  /** Copies some shards of a whole set into a new directory. */
  public static Path copy(Path set, Path target, Integer... numbers) throws IOException {
    Path file = Database.manifest(set);
    ManifestFile whole = ManifestFile.decode(file, Files.readAllBytes(file));
    ShardSet part = ShardSet.of(whole.manifest()).holding(whole.id(), Arrays.asList(numbers));
    for (ShardSet.Shard shard : part.heldShards()) {
      Path copy = Files.createDirectories(target.resolve(shard.directoryName()));
      try (Stream<Path> files = Files.list(set.resolve(shard.directoryName()))) {
        for (Path each : files.toList()) {
          Files.copy(each, copy.resolve(each.getFileName()));
        }
      }
    }
    Files.write(Database.manifest(target), ManifestFile.encode(part.manifest()));
    return target;
  }
}

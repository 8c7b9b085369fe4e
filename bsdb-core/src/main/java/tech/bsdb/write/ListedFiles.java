package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.ShardSet;

/**
 * What the manifest of a directory lists: the files of a database, or the shards of a set. Names
 * are relative to the directory: {@code data-000-1a2b3c4d.bsdb} for a file of a database, {@code
 * shard-00003-1a2b3c4d/manifest.bsdb} for a file of a shard.
 *
 * @param id the id of the database or set
 * @param files the files beside the manifest, which is not among them; none in a set
 * @param shards the directory names and ids of the shards that are held; none in a database
 */
record ListedFiles(DatabaseId id, Set<String> files, Map<String, DatabaseId> shards) {
  private static final int MAX_MANIFEST_BYTES = 1 << 24;

  /**
   * Reads the manifest of a directory.
   *
   * @throws CorruptDatabaseException if it is damaged
   * @throws tech.bsdb.error.UnsupportedFormatException if this version does not read it
   */
  static ListedFiles read(Path directory) throws IOException {
    ManifestFile file = manifest(directory);
    Map<String, DatabaseId> shards = new LinkedHashMap<>();
    try {
      if (ShardSet.isSet(file.manifest())) {
        for (ShardSet.Shard shard : ShardSet.of(file.manifest()).heldShards()) {
          shards.put(shard.directoryName(), shard.id());
        }
      }
    } catch (IllegalArgumentException e) {
      throw new CorruptDatabaseException(
          directory.resolve(Manifest.FILE_NAME),
          Page.SIZE,
          "the manifest of a database or a set of shards",
          String.valueOf(e.getMessage()));
    }
    return new ListedFiles(file.id(), file.fileNames(), shards);
  }

  private static ManifestFile manifest(Path directory) throws IOException {
    Path file = directory.resolve(Manifest.FILE_NAME);
    if (!Files.isRegularFile(file)) { // to open a pipe would wait for ever
      throw new NoSuchFileException(file.toString(), null, "missing, or not a file");
    }
    if (Files.size(file) > MAX_MANIFEST_BYTES) {
      throw new CorruptDatabaseException(file, 0, "a manifest", Files.size(file) + " bytes");
    }
    return ManifestFile.decode(file, Files.readAllBytes(file));
  }

  /**
   * The names of all files, except the manifest at the root. Reads the manifests of the shards.
   *
   * @param directory the directory of which these are the files
   * @throws IOException if the manifest of a shard cannot be read or belongs to another shard
   */
  Set<String> names(Path directory) throws IOException {
    Set<String> names = new LinkedHashSet<>(files);
    for (String shard : shards.keySet()) {
      names.addAll(names(directory, shard));
    }
    return names;
  }

  /** The names of the files of one shard, its manifest last. */
  Set<String> names(Path directory, String shard) throws IOException {
    Path path = directory.resolve(shard);
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new NotDirectoryException(path + " is not a directory");
    }
    ManifestFile manifest = manifest(path);
    DatabaseId listed = Objects.requireNonNull(shards.get(shard));
    if (!manifest.id().equals(listed)) {
      throw new CorruptDatabaseException(
          path.resolve(Manifest.FILE_NAME),
          16,
          "database id " + listed,
          manifest.id() + ": the shard belongs to another set");
    }
    Set<String> names = new LinkedHashSet<>();
    for (String name : manifest.fileNames()) {
      names.add(shard + "/" + name);
    }
    names.add(shard + "/" + Manifest.FILE_NAME);
    return names;
  }

  /** Whether a file of another database or shard has the name of one of these files. */
  boolean collidesWith(ListedFiles other) {
    if (id.equals(other.id)) {
      return false;
    }
    for (Map.Entry<String, DatabaseId> shard : shards.entrySet()) {
      if (!shard.getValue().equals(other.shards.getOrDefault(shard.getKey(), shard.getValue()))) {
        return true;
      }
    }
    return !Collections.disjoint(files, other.files);
  }

  /** Whether a name is that of one of the files, or lies in the directory of one of the shards. */
  boolean holds(String name) {
    String shard = shard(name);
    return shard.isEmpty() ? files.contains(name) : shards.containsKey(shard);
  }

  /** The shard's directory in a name, or an empty text if the file lies beside the manifest. */
  static String shard(String name) {
    return name.substring(0, Math.max(0, name.indexOf('/')));
  }

  /**
   * Whether a name is one that a file of a database or shard can have, except the root's manifest.
   */
  static boolean isName(String name) {
    int slash = name.indexOf('/');
    return slash < 0
        ? Manifest.isFileName(name) && !name.equals(Manifest.FILE_NAME)
        : Manifest.isShardDirectory(name.substring(0, slash))
            && Manifest.isFileName(name.substring(slash + 1));
  }
}

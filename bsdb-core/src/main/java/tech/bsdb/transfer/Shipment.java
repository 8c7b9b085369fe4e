package tech.bsdb.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.error.UntrustedException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.ShardSet;
import tech.bsdb.transfer.Tries.Damage;

/**
 * What to fetch: one database, or the wanted shards of a set. Immutable.
 *
 * @param directory where it is, as a path below the origin; empty for the origin itself
 * @param id its database id here, 32 hexadecimal digits; some shards of a set have their own id
 * @param records its number of keys
 * @param rootManifest the manifest file of the set here; empty for one database
 * @param parts the databases
 */
public record Shipment(
    String directory, String id, long records, byte[] rootManifest, List<Part> parts) {
  /** The name of the file in a store that names the current version. */
  public static final String POINTER = "CURRENT";

  /** The most bytes of that file that are read. */
  public static final int MOST_OF_POINTER = 1 << 16;

  private static final Pattern VERSION_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,99}");

  /**
   * One database of a shipment.
   *
   * @param id its database id, 32 hexadecimal digits
   * @param directory its directory, as a path below that of the shipment; empty for the same
   */
  public record Part(String id, String directory) {}

  /** Copies the list. */
  public Shipment {
    parts = List.copyOf(parts);
  }

  /**
   * Reads what there is.
   *
   * @param directory a path below the origin; empty for the origin itself
   * @throws java.nio.file.NoSuchFileException if there is no manifest
   * @throws IllegalArgumentException if there are not the wanted shards
   */
  public static Shipment read(
      Origin origin, String directory, TransferOptions options, Runnable checkOpen)
      throws IOException {
    String file = below(directory, Manifest.FILE_NAME);
    Traffic traffic = new Traffic(options, checkOpen);
    byte[] bytes =
        small(
            origin,
            file,
            ManifestFile.MAX_BYTES,
            traffic,
            options,
            read -> ManifestFile.decode(Path.of(file), read).isSet());
    ManifestFile stated = ManifestFile.decode(Path.of(file), bytes);
    ManifestSignature.require(origin.location(file), bytes, options.trusted());
    SortedSet<Integer> shards = options.shards();
    String id = stated.id().toString();
    if (!stated.isSet()) {
      if (shards != null) {
        throw new IllegalArgumentException(
            origin.location(directory) + " is one database, not a set of shards; omit the shards");
      }
      long records = DatabaseDirectory.of(Path.of(directory), stated).facts().records();
      return new Shipment(directory, id, records, new byte[0], List.of(new Part(id, "")));
    }
    return of(directory, stated, bytes, wanted(origin.location(directory), stated, shards));
  }

  /** Returns the set of the wanted shards. */
  private static ShardSet wanted(
      String location, ManifestFile stated, @Nullable SortedSet<Integer> shards)
      throws IOException {
    ShardSet set = stated.set();
    if (shards == null) {
      return set;
    }
    List<Integer> lacking = shards.stream().filter(number -> !set.holds(number)).toList();
    if (!lacking.isEmpty()) {
      throw new IllegalArgumentException(
          location
              + " has "
              + (set.isWhole() ? set.shards().size() + " shards, from 0" : set.shownHeld())
              + ", but not shard "
              + lacking.get(0));
    }
    DatabaseId whole = set.whole();
    return set.holding(whole == null ? stated.id() : whole, shards);
  }

  private static Shipment of(
      String directory, ManifestFile stated, byte[] manifest, ShardSet wanted) throws IOException {
    boolean asIs = wanted.equals(stated.set());
    byte[] encoded =
        asIs ? manifest : ManifestSignature.copy(manifest, ManifestFile.encode(wanted.manifest()));
    ManifestFile here = ManifestFile.decode(stated.path(), encoded);
    List<Part> parts = new ArrayList<>();
    for (ShardSet.Shard shard : wanted.heldShards()) {
      parts.add(new Part(shard.id().toString(), shard.directoryName()));
    }
    return new Shipment(directory, here.id().toString(), wanted.heldRecords(), encoded, parts);
  }

  /**
   * Reads the manifests of all databases.
   *
   * @param checkOpen called often; throws to cancel
   * @return the lengths of all files except manifests, by their paths below the directory
   * @throws java.nio.file.NoSuchFileException if a manifest is missing
   */
  public Map<String, Long> files(Origin origin, TransferOptions options, Runnable checkOpen)
      throws IOException {
    Map<String, Long> files = new HashMap<>();
    for (Part part : parts) {
      String file = below(directory(part), Manifest.FILE_NAME);
      byte[] bytes = content(origin, file, ManifestFile.MAX_BYTES, options, checkOpen);
      ManifestFile stated = ManifestFile.decode(Path.of(file), bytes);
      for (Manifest.FileEntry entry : stated.manifest().files()) {
        files.put(below(part.directory(), entry.name(stated.id())), entry.length());
      }
    }
    return files;
  }

  /**
   * One of its shards; this if it is one database.
   *
   * @param shard the number of the shard
   * @throws IOException if there is no such shard
   */
  public Shipment only(int shard) throws IOException {
    if (!isSet()) {
      return this;
    }
    Path root = Path.of(below(directory, Manifest.FILE_NAME));
    for (ShardSet.Shard held : ManifestFile.decode(root, rootManifest).set().heldShards()) {
      if (held.number() == shard) {
        Part part = new Part(held.id().toString(), held.directoryName());
        return new Shipment(directory, id, held.records(), rootManifest, List.of(part));
      }
    }
    throw new IOException(directory + ": has no shard " + shard);
  }

  /** Whether it is a set of shards, or some of one. */
  public boolean isSet() {
    return rootManifest.length > 0;
  }

  /** The name of the version that this is in a store; null if it is the origin itself. */
  public @Nullable String version() {
    return directory.isEmpty() ? null : directory;
  }

  /** The directory of one of the databases, as a path below the origin. */
  public String directory(Part part) {
    return part.directory().isEmpty() ? directory : below(directory, part.directory());
  }

  /** A path of two parts, of which the first may be empty. */
  static String below(String directory, String name) {
    return directory.isEmpty() ? name : directory + "/" + name;
  }

  /**
   * Reads a small file of an origin whole.
   *
   * @param file its path below the origin
   * @param most its greatest length in bytes
   * @param checkOpen called often; throws to cancel
   */
  public static byte[] content(
      Origin origin, String file, int most, TransferOptions options, Runnable checkOpen)
      throws IOException {
    return small(origin, file, most, new Traffic(options, checkOpen), options, read -> {});
  }

  /** Whether a version of a store can have this name. */
  public static boolean isVersionName(String name) {
    return VERSION_NAME.matcher(name).matches() && !name.equals(POINTER);
  }

  /**
   * The name of the current version by the content of a store's file {@link #POINTER}, or null if
   * it names none.
   */
  public static @Nullable String current(byte[] pointer) {
    String name = new String(pointer, StandardCharsets.UTF_8).split("\n", 2)[0].strip();
    return isVersionName(name) ? name : null;
  }

  /**
   * Fetches one file of a database. Every page is verified as it arrives.
   *
   * @param file its path below the origin
   * @param manifest the manifest file of its database
   * @param name its name in the database
   * @param target where to put it; may hold its first pages
   * @param checkOpen called often; throws to cancel
   */
  public static void bring(
      Origin origin,
      String file,
      byte[] manifest,
      String name,
      Path target,
      TransferOptions options,
      Runnable checkOpen)
      throws IOException {
    ManifestFile stated = ManifestFile.decode(Path.of(file), manifest);
    for (Manifest.FileEntry entry : stated.manifest().files()) {
      if (entry.name(stated.id()).equals(name)) {
        Traffic traffic = new Traffic(options, checkOpen);
        new FileFetch(origin, file, entry, stated.id(), target, traffic, options).run();
        return;
      }
    }
    throw new IllegalArgumentException("the manifest does not list " + name);
  }

  /** Fails for content that is not what was written. */
  @FunctionalInterface
  interface Check {
    void check(byte[] content) throws IOException;
  }

  /**
   * Reads a small file whole.
   *
   * @param most its greatest length in bytes
   * @param check fails if another attempt is needed
   */
  static byte[] small(
      Origin origin, String file, int most, Traffic traffic, TransferOptions options, Check check)
      throws IOException {
    Tries tries = new Tries(origin, file, traffic, options);
    while (true) {
      traffic.checkOpen();
      try (InputStream in = origin.open(file, 0)) {
        byte[] bytes = in.readNBytes(most + 1);
        traffic.received(bytes.length);
        if (bytes.length > most) {
          throw new RefusedException("it has more than " + most + " bytes");
        }
        check.check(bytes);
        return bytes;
      } catch (CorruptDatabaseException e) {
        tries.failed(new Damage(e));
      } catch (UnsupportedFormatException | UntrustedException e) {
        throw e;
      } catch (IOException e) {
        tries.failed(e);
      }
    }
  }
}

package tech.bsdb.tools.publish;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.BuildReport;
import tech.bsdb.ShardedBuild;
import tech.bsdb.store.Pointer;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Consignment.Part;

/**
 * A version of a distant store that several processes build and send, a shard each, and that one
 * process makes current. Immutable.
 *
 * @param shards its shards, by number
 * @param files the lengths of their files, by their paths below the version
 * @param manifest the manifest of the version, which is sent last
 */
public record BuiltSet(List<Shard> shards, Map<String, Long> files, byte[] manifest) {
  private static final Logger LOG = LoggerFactory.getLogger(BuiltSet.class);

  /** The pauses before further attempts at whatever failed, in milliseconds. */
  private static final List<Long> PAUSES = List.of(1_000L, 2_000L, 4_000L, 8_000L);

  /** Copies the list and the map. */
  public BuiltSet {
    shards = List.copyOf(shards);
    files = Map.copyOf(files);
  }

  /** Puts all shards together, which are given by number. */
  public static BuiltSet of(List<Shard> shards) {
    Map<String, Long> files = new HashMap<>();
    List<ShardedBuild.Shard> listed = new ArrayList<>();
    for (Shard shard : shards) {
      files.putAll(shard.files());
      listed.add(new ShardedBuild.Shard(shard.number(), shard.databaseId(), shard.records()));
    }
    byte[] alone = shards.get(0).manifest();
    return new BuiltSet(shards, files, alone == null ? ShardedBuild.manifest(listed) : alone);
  }

  /** Attempts at operations on a store, which log why something is tried again. */
  public static Attempts attempts(DistantDirectory directory) {
    return new Attempts(directory, PAUSES, why -> LOG.warn("{}; trying again", why));
  }

  /** Whether a complete version is this one. */
  public boolean isIn(DistantStore store, String version) throws IOException {
    return Objects.equals(store.databaseId(version), Consignment.databaseId(manifest))
        && store.lengths(version).entrySet().containsAll(files.entrySet());
  }

  /**
   * Makes the version current, once all shards have been sent.
   *
   * @param marker what its marker says
   * @param predecessor looks at the version that it replaces
   * @return the pointer of before, or null
   * @throws IOException if a file is missing, or the marker is another one's by now
   */
  public @Nullable Pointer commit(
      DistantDirectory directory,
      DistantStore store,
      String version,
      String marker,
      DistantStore.Predecessor predecessor)
      throws IOException {
    store.retain(version, files.keySet());
    store.requireArrived(version, files);
    requireMarker(directory, store, version, marker); // so no manifest is written for another
    store.write(version + "/" + ShardedBuild.MANIFEST, manifest);
    requireMarker(directory, store, version, marker);
    return store.goLive(version, predecessor);
  }

  private static void requireMarker(
      DistantDirectory directory, DistantStore store, String version, String marker)
      throws IOException {
    if (!marker.equals(store.marker(version))) {
      throw new IOException(
          directory.location(version)
              + ": the write was given up, or another write to this store has begun since");
    }
  }

  /**
   * One shard that was built, or the database that is the whole version. Immutable.
   *
   * @param number its number
   * @param databaseId its database id
   * @param records its number of keys
   * @param duplicatesDropped the number of records that gave way to another one with the same key
   * @param valuesCut the number of values cut to the width of an approximate database
   * @param files the lengths of the files, by their paths below the version
   * @param manifest the manifest if this is the whole version; else null
   */
  public record Shard(
      int number,
      String databaseId,
      long records,
      long duplicatesDropped,
      long valuesCut,
      Map<String, Long> files,
      byte @Nullable [] manifest)
      implements Serializable {
    /**
     * Describes a shard.
     *
     * @param shards the number of all shards
     * @param built where it is
     */
    public static Shard of(int number, int shards, Path built, BuildReport report)
        throws IOException {
      boolean alone = shards == 1;
      String below =
          alone
              ? ""
              : new ShardedBuild.Shard(number, report.databaseId(), report.records())
                      .directoryName()
                  + "/";
      Consignment consignment = Consignment.of(built);
      Map<String, Long> files = new HashMap<>();
      byte[] manifest = null;
      for (Part part : consignment.files()) {
        files.put(below + part.name(), part.length());
      }
      for (Part part : consignment.manifests()) {
        if (alone) {
          try (InputStream in = part.open()) {
            manifest = in.readAllBytes();
          }
        } else {
          files.put(below + part.name(), part.length());
        }
      }
      return new Shard(
          number,
          report.databaseId(),
          report.records(),
          report.duplicatesDropped(),
          report.valuesCut(),
          Map.copyOf(files),
          manifest);
    }

    /** The size of its files. */
    public long bytes() {
      return files.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Its directory below the store. */
    public String directory(String version) {
      return manifest != null
          ? version
          : version + "/" + new ShardedBuild.Shard(number, databaseId, records).directoryName();
    }

    /**
     * Sends the files; the manifest of a whole version is left to {@link BuiltSet#commit}.
     *
     * @param built where it is
     * @param marker what the version's marker says, as long as it may be written to
     * @param threads how many files are sent at once
     * @param running called often, from any thread, with the attempts, to stop them
     */
    public void send(
        Path built,
        DistantDirectory directory,
        String version,
        String marker,
        int threads,
        Consumer<Attempts> running)
        throws IOException {
      Attempts attempts = attempts(directory);
      requireMarker(directory, new DistantStore(directory, attempts), version, marker);
      Consignment consignment = Consignment.of(built);
      LongConsumer follower = done -> running.accept(attempts);
      try (Delivery delivery = new Delivery(directory, attempts, threads, follower)) {
        String to = directory(version);
        delivery.send(consignment.files(), to, Map.of(), /* verify= */ false);
        if (manifest == null) {
          delivery.send(consignment.manifests(), to, Map.of(), /* verify= */ false);
        }
      }
    }
  }
}

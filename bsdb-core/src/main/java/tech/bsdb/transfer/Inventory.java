package tech.bsdb.transfer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ShardSet;

/**
 * What manifests say about the databases of a shipment, read without their other files. Immutable.
 *
 * @param valueSchema the schema of values that are rows, as JSON; null if values are plain bytes
 * @param approximate whether the keys are not stored
 * @param ordered whether the order of the keys is stored
 * @param shards the number of shards of the whole set; 1 for an undivided database
 * @param items the databases, in the order of the shipment's parts
 */
public record Inventory(
    @Nullable String valueSchema,
    boolean approximate,
    boolean ordered,
    int shards,
    List<Item> items) {
  /**
   * A database of the shipment.
   *
   * @param part which
   * @param shard the number of the shard; 0 for an undivided database
   * @param records its number of keys
   * @param bytes the size of its files; of a set, estimated by the first one's bytes per key
   */
  public record Item(Shipment.Part part, int shard, long records, long bytes) {}

  /** Copies the list. */
  public Inventory {
    items = List.copyOf(items);
  }

  /**
   * Reads the manifest of the shipment's first database, which has the facts that all of them
   * share.
   *
   * @param checkOpen called often; throws to cancel
   * @throws java.nio.file.NoSuchFileException if it no longer exists
   */
  public static Inventory read(
      Origin origin, Shipment shipment, TransferOptions options, Runnable checkOpen)
      throws IOException {
    Shipment.Part first = shipment.parts().get(0);
    String directory = shipment.directory(first);
    String file = Shipment.below(directory, Manifest.FILE_NAME);
    byte[] bytes = Shipment.content(origin, file, ManifestFile.MAX_BYTES, options, checkOpen);
    ManifestFile stated = ManifestFile.decode(Path.of(file), bytes);
    Facts facts = DatabaseDirectory.of(Path.of(directory), stated).facts();
    long size =
        stated.manifest().files().stream().mapToLong(FileEntry::length).sum() + bytes.length;
    List<Item> items = new ArrayList<>();
    if (shipment.isSet()) {
      Path root = Path.of(Shipment.below(shipment.directory(), Manifest.FILE_NAME));
      double each = (double) size / Math.max(1, facts.records());
      for (ShardSet.Shard shard :
          ManifestFile.decode(root, shipment.rootManifest()).set().heldShards()) {
        Shipment.Part part = new Shipment.Part(shard.id().toString(), shard.directoryName());
        items.add(new Item(part, shard.number(), shard.records(), (long) (shard.records() * each)));
      }
    } else {
      items.add(new Item(first, facts.shard(), facts.records(), size));
    }
    return new Inventory(
        facts.valueSchema(), facts.approximate(), facts.order() != null, facts.shards(), items);
  }
}

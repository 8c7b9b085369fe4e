package tech.bsdb;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.write.Assembled;
import tech.bsdb.write.BuildPlace;
import tech.bsdb.write.OutputFile;
import tech.bsdb.write.RecordTotals;

/**
 * The files of a database, complete under their final names.
 *
 * @param id the id of the database
 * @param fileBytes the size of each file by name, in the order written
 */
record SealedFiles(DatabaseId id, Map<String, Long> fileBytes) {
  /**
   * Gives the files of a database their ids and final names, forces them to the device, and writes
   * the manifest last.
   *
   * @param totals the records added
   * @param shard the number of the shard
   * @param shards the number of shards, 1 for a whole database
   * @param chunk write buffer of the manifest
   */
  static SealedFiles of(
      Assembled assembled,
      RecordTotals totals,
      BuildOptions options,
      int shard,
      int shards,
      BuildPlace place,
      ChunkBuffer chunk,
      WriterProgress progress)
      throws IOException {
    List<Assembled.Content> contents = assembled.contents();
    List<Manifest.FileEntry> entries = contents.stream().map(Assembled.Content::entry).toList();
    Manifest.Builder stated =
        facts(assembled, totals, options, shard, shards).manifest(assembled.storage().hashKind());
    entries.forEach(stated::file);
    byte[] text = stated.build().encode();
    DatabaseId id = DatabaseId.derive(text);
    Map<String, Long> fileBytes = new LinkedHashMap<>();
    for (int i = 0; i < contents.size(); i++) {
      progress.sealed(i, contents.size() + 1L);
      contents.get(i).file().seal(id, entries.get(i).name(id));
      fileBytes.put(entries.get(i).name(id), entries.get(i).length());
    }
    fileBytes.put(Manifest.FILE_NAME, OutputFile.writeManifest(place.directory(), text, chunk));
    return new SealedFiles(id, fileBytes);
  }

  private static Facts facts(
      Assembled assembled, RecordTotals totals, BuildOptions options, int shard, int shards) {
    Assembled.Storage storage = assembled.storage();
    return new Facts(
        storage.layout(),
        assembled.keys(),
        totals.records() - assembled.keys(),
        totals.keyBytes(),
        totals.valueBytes(),
        totals.longestKey(),
        totals.longestValue(),
        options.seed(),
        storage.hashBuckets(),
        storage.checksumBits(),
        storage.approximateWidth(),
        shard,
        shards,
        storage.zstdBlock(),
        storage.zstdLevel(),
        storage.zstdLongest(),
        options.valueSchema(),
        storage.bins(),
        storage.filter(),
        storage.order());
  }
}

package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PageCheck;
import tech.bsdb.hash.HashKind;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;

/**
 * The result of an assembly: its content files, and the facts of the manifest that depend on it.
 *
 * @param keys the number of keys that lookups find
 * @param valuesCut the number of values that were truncated
 * @param hashBuckets number of buckets of the hash function
 * @param zstdLongest bytes of the longest frame of a block, 0 unless the layout is compressed
 * @param bins the bins of the packed layout, otherwise null
 * @param filter the filter of absent keys, or null if there is none
 * @param order the order of the keys, or null if there is none
 * @param contents the content files, in the order of the manifest; the assembly closes them
 */
record Assembled(
    long keys,
    long valuesCut,
    long hashBuckets,
    int zstdLongest,
    Facts.@Nullable Bins bins,
    Facts.@Nullable Filter filter,
    Facts.@Nullable Order order,
    List<Content> contents) {
  /**
   * A file whose content is finished.
   *
   * @param file the file, not yet sealed
   * @param end the byte offset after its last payload byte
   */
  record Content(OutputFile file, long end) {
    /** Writes bytes as the whole content of a file, and finishes it. */
    static Content written(OutputFile file, byte[] bytes) throws IOException {
      file.pages().put(bytes, 0, bytes.length);
      long end = file.pages().position();
      file.finish();
      return new Content(file, end);
    }

    /** Opens the file, a data file, to be read again before it is sealed; the caller closes it. */
    private DataFile open() throws IOException {
      FileEntry entry = entry();
      PageCheck check = new PageCheck(file.path(), entry.file());
      CheckedPages pages =
          new CheckedPages(
              new BufferedEngine().open(file.path(), (entry.pages() - 1) * CheckedPages.PAGE),
              entry.pages(),
              null);
      return new DataFile(pages, check, end);
    }

    /** Opens data files to be read again before they are sealed; the caller closes them. */
    static List<DataFile> open(List<Content> contents) throws IOException {
      List<DataFile> files = new ArrayList<>();
      Resources opened = new Resources();
      try {
        for (Content content : contents) {
          files.add(opened.add(content.open()));
        }
        return files;
      } catch (IOException | RuntimeException | Error e) {
        opened.closeAfter(e);
        throw e;
      }
    }

    /** The file's entry in the manifest. */
    FileEntry entry() throws IOException {
      return file.entry(end);
    }
  }

  /**
   * Files of a database, complete under their final names.
   *
   * @param id the id of the database
   * @param fileBytes the size of each file by name, in the order written
   */
  record Sealed(DatabaseId id, Map<String, Long> fileBytes) {}

  /**
   * Gives the files their ids and final names, forces them to the device if they are lasting, and
   * writes the manifest last.
   *
   * @param totals the records added
   * @param shard the number of the shard
   * @param chunk write buffer of the manifest
   */
  Sealed seal(
      RecordTotals totals,
      BuildOptions options,
      int shard,
      BuildPlace place,
      ChunkBuffer chunk,
      AssemblyProgress progress)
      throws IOException {
    if (place.lasting()) {
      for (Content content : contents) {
        content.file().force(); // while it is hashed
      }
    }
    List<FileEntry> entries = new ArrayList<>();
    for (Content content : contents) {
      entries.add(content.entry());
    }
    String hashKind = bins == null ? HashKind.of(options.hash()).id() : Facts.NO_HASH;
    Manifest.Builder stated = facts(totals, options, shard).manifest(hashKind);
    entries.forEach(stated::file);
    byte[] text = stated.build().encode();
    DatabaseId id = DatabaseId.derive(text);
    Map<String, Long> fileBytes = new LinkedHashMap<>();
    for (int i = 0; i < contents.size(); i++) {
      progress.sealed(i, contents.size() + 1L);
      contents.get(i).file().seal(id, entries.get(i).name(id), place.lasting());
      fileBytes.put(entries.get(i).name(id), entries.get(i).length());
    }
    fileBytes.put(
        Manifest.FILE_NAME,
        OutputFile.writeManifest(
            place.directory(), text, options.signingKey(), chunk, place.lasting()));
    return new Sealed(id, fileBytes);
  }

  private Facts facts(RecordTotals totals, BuildOptions options, int shard) {
    boolean approximate = options.approximateWidth() > 0;
    boolean compressed = !approximate && options.layout().isCompressed();
    return new Facts(
        approximate ? null : options.layout(),
        keys,
        totals.records() - keys,
        totals.keyBytes(),
        totals.valueBytes(),
        totals.longestKey(),
        totals.longestValue(),
        options.signature(),
        options.seed(),
        hashBuckets,
        bins == null ? options.checksumBits() : 0,
        options.approximateWidth(),
        shard,
        options.shards(),
        compressed ? options.blockSize() : 0,
        compressed ? options.compressionLevel() : 0,
        zstdLongest,
        options.valueSchema(),
        options.valueElements(),
        bins,
        filter,
        order);
  }
}

package tech.bsdb.write;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.RecordLayout;

/**
 * The result of an assembly.
 *
 * @param keys the number of keys that lookups find
 * @param valuesCut the number of values that were truncated
 * @param storage how the records are stored
 * @param contents the content files, in the order of the manifest; the assembly closes them
 */
public record Assembled(long keys, long valuesCut, Storage storage, List<Content> contents) {
  /** Copies the list. */
  public Assembled {
    contents = List.copyOf(contents);
  }

  /**
   * How records are stored and located: the facts of the manifest that depend on the assembly.
   *
   * @param layout the layout of records in the data files
   * @param hashKind the kind of the hash function
   * @param hashBuckets number of buckets of the hash function
   * @param checksumBits checksum bits per slot
   * @param approximateWidth bytes kept of each value, 0 in an exact database
   * @param zstdBlock raw bytes per compressed block, 0 without compression
   * @param zstdLevel the ZSTD compression level, 0 without compression
   * @param zstdLongest bytes of the longest frame of a block, 0 unless the layout is compressed
   * @param bins the bins of the packed layout, otherwise null
   * @param filter the filter of absent keys, or null if there is none
   * @param order the order of the keys, or null if there is none
   */
  public record Storage(
      RecordLayout layout,
      String hashKind,
      long hashBuckets,
      int checksumBits,
      int approximateWidth,
      int zstdBlock,
      int zstdLevel,
      int zstdLongest,
      Facts.@Nullable Bins bins,
      Facts.@Nullable Filter filter,
      Facts.@Nullable Order order) {
    /** The same, with an order of the keys. */
    Storage with(Facts.Order added) {
      return new Storage(
          layout,
          hashKind,
          hashBuckets,
          checksumBits,
          approximateWidth,
          zstdBlock,
          zstdLevel,
          zstdLongest,
          bins,
          filter,
          added);
    }
  }

  /**
   * A file whose content is finished.
   *
   * @param file the file, not yet sealed
   * @param end the byte offset after its last payload byte
   */
  public record Content(OutputFile file, long end) {
    /** Writes bytes as the whole content of a file, and finishes it. */
    static Content written(OutputFile file, byte[] bytes) throws IOException {
      file.pages().put(bytes, 0, bytes.length);
      long end = file.pages().position();
      file.finish();
      return new Content(file, end);
    }

    /** The file's entry in the manifest. */
    public Manifest.FileEntry entry() {
      return file.entry(end);
    }
  }
}

package tech.bsdb.write;

import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.data.CompressedWriter;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.order.TreeSize;

/**
 * The sizes of a database and of its build, computed from the number and the length of its records.
 * Each formula stands beside the code that writes the bytes; this class only adds them up.
 *
 * @param dataBytes size of the data files
 * @param hashBytes size of the hash function's file; 0 in the packed layout
 * @param indexBytes size of the index file
 * @param dictionaryBytes size of the dictionary's file at most
 * @param filterBytes size of the filter's file; 0 without one
 * @param orderBytes size of the file with the order of the keys at most; 0 without one
 * @param bins the number of bins of the packed layout, otherwise 0
 * @param spanning whether the bins span pages
 * @param pinnedBytes heap of an open database that grows with the records: the index of the packed
 *     layout, or the table of the hash function, if it has one
 * @param orderHeapBytes heap of the nodes of the order that stay in memory, once ranges were read
 * @param temporaryBytes size of the temporary files at most
 * @param peakBytes size of the new files and the temporary files at one time at most
 * @param memoryBytes memory of the build's chunks and passes
 */
public record SizePlan(
    long dataBytes,
    long hashBytes,
    long indexBytes,
    long dictionaryBytes,
    long filterBytes,
    long orderBytes,
    long bins,
    boolean spanning,
    long pinnedBytes,
    long orderHeapBytes,
    long temporaryBytes,
    long peakBytes,
    long memoryBytes) {
  /** Pages of a file that are no content: header and footer. */
  private static final int FRAME = 2;

  /**
   * A manifest without schema fits in one page, with header and footer. A sample of the index makes
   * it a few pages longer, beside hundreds of data.
   */
  private static final int MANIFEST = 3;

  /**
   * Records of equal length with random signatures.
   *
   * @param count the number of records
   * @param keyLength the length of each key
   * @param valueLength the length of each value
   */
  public record Records(long count, int keyLength, int valueLength) {
    long length() {
      return RecordFrame.length(keyLength, valueLength);
    }
  }

  /** Bytes of all files. */
  public long databaseBytes() {
    return dataBytes
        + hashBytes
        + indexBytes
        + dictionaryBytes
        + filterBytes
        + orderBytes
        + bytes(MANIFEST);
  }

  private static long bytes(long pages) {
    return pages * Page.SIZE;
  }

  private static long pages(long payload) {
    return (payload + Page.PAYLOAD - 1) / Page.PAYLOAD;
  }

  /**
   * Plans a database.
   *
   * @param compressedBytes bytes of the compressed pages, or -1 if nothing compresses; ignored
   *     unless compressed
   * @param dictionaryBytes bytes of the dictionary; 0 for none
   * @throws IllegalArgumentException if the addresses or the index cannot hold so much
   */
  public static SizePlan of(
      BuildOptions options, Records records, long compressedBytes, int dictionaryBytes) {
    if (BuildOutput.isPacked(options)) {
      SizePlan sizes = packed(options, records, compressedBytes, dictionaryBytes);
      return options.orderedKeys() ? sizes.orderedPacked(options, records) : sizes;
    }
    SizePlan sizes = addressed(options, records, compressedBytes, dictionaryBytes);
    return options.orderedKeys() ? sizes.orderedAddressed(options, records) : sizes;
  }

  /** Plans a database with a hash function and an index. */
  private static SizePlan addressed(
      BuildOptions options, Records records, long compressedBytes, int dictionaryBytes) {
    long count = records.count;
    boolean approximate = options.approximateWidth() > 0;
    boolean compressed = BuildOutput.isCompressed(options);
    long contentPages = 0;
    if (compressed) {
      long stored = CompressedWriter.storedBytes(count, records.length(), options.blockSize());
      long given = (compressedBytes + Page.SIZE - 1) / Page.SIZE;
      contentPages = compressedBytes < 0 ? pages(stored) : Math.min(pages(stored), given);
    } else if (!approximate) {
      contentPages = PlainWriter.pages(options.layout(), count, records.length());
    }
    requireAddresses(options, contentPages);
    long data = approximate ? 0 : bytes(contentPages + (long) FRAME * options.dataFiles());
    HashConstruction hash =
        HashKind.of(options.hash())
            .construct(count, options.checksumBits(), SignatureSpill.PARTITIONS, 0);
    int width =
        approximate ? ValueIndex.entryWidth(options.approximateWidth()) : AddressIndex.WIDTH;
    long index = bytes(AddressIndex.pagesFor(count, width));
    int payload = Long.BYTES + (approximate ? width : 0);
    long temporary = SignatureSpill.mostBytes(count, payload);
    if (approximate) {
      long keys = RecordFrame.length(records.keyLength, 0);
      temporary += bytes(1 + PlainWriter.pages(Layout.COMPACT, count, keys));
    }
    long dictionary =
        dictionaryBytes == 0 || !compressed ? 0 : bytes(pages(dictionaryBytes) + FRAME);
    long written = data + bytes(hash.filePages()) + index + dictionary + bytes(MANIFEST);
    long memory =
        SignatureSpill.openBytes(count)
            + IndexStage.passBytes(
                count,
                hash.buckets(),
                2L * Long.BYTES + payload,
                options.memoryBytes(),
                options.threads());
    return new SizePlan(
        data,
        bytes(hash.filePages()),
        index,
        dictionary,
        0,
        0,
        0,
        false,
        hash.heapBytes(),
        0,
        temporary,
        written + temporary,
        memory);
  }

  /** Bits of the short form of an address in the order of the keys, which a build takes, too. */
  private static int addressBits(BuildOptions options, Records records) {
    RecordAddress addresses = RecordAddress.of(options.layout(), options.blockSize());
    long bytes = records.count * records.length();
    return OrderOutput.bits(options, addresses, records.count, bytes, records.length()).all();
  }

  /** The same database with the order of its keys, in which its records are stored. */
  private SizePlan orderedAddressed(BuildOptions options, Records records) {
    TreeSize tree = TreeSize.of(records.count, records.keyLength, addressBits(options, records));
    long order = orderBytes(tree);
    SortLimits limits = new SortLimits(options.memoryBytes(), options.threads());
    long entries = records.count * RecordSpill.entryBytes(records.keyLength, records.valueLength);
    long spilled =
        limits.temporaryBytes(records.count, entries)
            + RecordSpill.longValueBytes(records.count, records.valueLength);
    long left = limits.leftBytes(entries, spilled);
    // The other files grow while the spill shrinks, so the peak is at one end.
    long written = dataBytes + order + temporaryBytes;
    long twice = limits.dividesAgain(records.count, entries) ? 2 * spilled : spilled;
    long peak =
        Math.max(Math.max(twice, spilled + written / SortLimits.FILES_OF_SAMPLED), written + left);
    return with(
        tree,
        Math.max(
            Math.max(twice, spilled + temporaryBytes / SortLimits.FILES_OF_SAMPLED),
            temporaryBytes + left),
        Math.max(peakBytes + order, peak + bytes(MANIFEST)),
        Math.max(
            memoryBytes,
            SignatureSpill.openBytes(records.count) + limits.sortBytes(records.count, entries)));
  }

  /**
   * The same packed database with the order of its keys, which are collected while the records are
   * packed.
   */
  private SizePlan orderedPacked(BuildOptions options, Records records) {
    SortLimits limits = new SortLimits(options.memoryBytes(), options.threads());
    long need = SortLimits.keyNeed(records.count, records.count * records.keyLength);
    PackedShape shape = shape(options, records);
    TreeSize tree = TreeSize.of(records.count, records.keyLength, 0);
    long order = orderBytes(tree);
    long keys = limits.keyTemporaryBytes(records.count, records.keyLength);
    // The keys are ahead of the data by the passes that run, and of the spill by one step more.
    double ahead =
        Math.min(
            1,
            1.0 / RecordSpill.deletions(shape.units()) + (options.threads() + 1.0) / shape.units());
    long first = (long) (ahead * keys);
    long last = keys + (long) (ahead * temporaryBytes);
    long ended = databaseBytes() + order + keys;
    return with(
        tree,
        Math.max(temporaryBytes + first, last),
        Math.max(Math.max(peakBytes + first, databaseBytes() + last), ended),
        Math.max(
            packBytes(options, records, limits.packBytes(need)) + limits.collectedBytes(need),
            limits.keySortBytes(records.count, need)));
  }

  private static long orderBytes(TreeSize tree) {
    return bytes(tree.pages() + FRAME);
  }

  /** The same database with an order, whose build takes more. */
  private SizePlan with(TreeSize tree, long temporary, long peak, long memory) {
    return new SizePlan(
        dataBytes,
        hashBytes,
        indexBytes,
        dictionaryBytes,
        filterBytes,
        orderBytes(tree),
        bins,
        spanning,
        pinnedBytes,
        tree.heapBytes(),
        temporary,
        peak,
        memory);
  }

  private static void requireAddresses(BuildOptions options, long contentPages) {
    RecordAddress addresses = RecordAddress.of(options.layout(), options.blockSize());
    long perFile = addresses.maxPosition() / Page.SIZE - RecordAddress.STRIPE / Page.SIZE;
    long files = (contentPages + perFile - 1) / perFile;
    if (files > options.dataFiles()) {
      throw new IllegalArgumentException(
          "these records need " + files + " data files, not " + options.dataFiles());
    }
  }

  /** Plans a packed database. */
  private static SizePlan packed(
      BuildOptions options, Records records, long compressedBytes, int dictionaryBytes) {
    long count = records.count;
    boolean compressed = options.layout().isCompressed();
    PackedShape shape = shape(options, records);
    long length = compressed ? storedLength(options.blockSize(), records) : records.length();
    long contentPages = PackedWriter.expectedPages(count, length, shape.bins(), shape.spanning());
    if (compressed && compressedBytes >= 0) {
      contentPages = Math.min(contentPages, Math.max(1, compressedBytes / Page.SIZE));
    }
    if (contentPages > BinIndex.mostPages()) {
      throw new IllegalArgumentException(
          "these records need "
              + contentPages
              + " pages, and the packed layout holds at most "
              + BinIndex.mostPages());
    }
    long data = bytes(contentPages + (long) FRAME * options.dataFiles());
    long index = bytes(BinIndex.filePages(shape.bins(), contentPages));
    long dictionary =
        dictionaryBytes == 0 || !compressed ? 0 : bytes(pages(dictionaryBytes) + FRAME);
    long filter =
        options.filterBits() == 0
            ? 0
            : FilterWriter.fileBytes(FilterWriter.facts(options.filterBits(), count), count);
    long spilled =
        RecordSpill.mostBytes(count, records.keyLength, records.valueLength)
            + RecordSpill.longValueBytes(count, records.valueLength);
    int steps = RecordSpill.deletions(shape.units());
    // The data grows while the spill shrinks, so the peak is at one end.
    long peak =
        Math.max(spilled + data / steps, data + spilled / steps)
            + index
            + dictionary
            + filter
            + bytes(MANIFEST);
    return new SizePlan(
        data,
        0,
        index,
        dictionary,
        filter,
        0,
        shape.bins(),
        shape.spanning(),
        BinIndex.heapBytes(shape.bins(), contentPages),
        0,
        spilled,
        peak,
        packBytes(options, records, options.memoryBytes()));
  }

  private static PackedShape shape(BuildOptions options, Records records) {
    long raw = records.count * records.length();
    return options.layout().isCompressed()
        ? PackedShape.compressed(records.count, raw, options.blockSize())
        : PackedShape.of(records.count, raw);
  }

  /**
   * Memory of the chunks and passes of a packed database.
   *
   * @param memoryBytes the memory limit for concurrent passes
   */
  private static long packBytes(BuildOptions options, Records records, long memoryBytes) {
    long entry = RecordSpill.entryBytes(records.keyLength, records.valueLength);
    return RecordSpill.openBytes(records.count)
        + SortedPasses.bytes(
            records.count,
            options.layout().isCompressed() ? entry + Math.max(entry, 2 * records.length()) : entry,
            shape(options, records),
            memoryBytes,
            options.threads());
  }

  /** A record's length with its share of the headers of a block that is stored. */
  private static long storedLength(int blockSize, Records records) {
    long perBlock = Math.max(1, blockSize / records.length());
    return records.length() + (1 + BlockFrame.MAX + perBlock - 1) / perBlock;
  }
}

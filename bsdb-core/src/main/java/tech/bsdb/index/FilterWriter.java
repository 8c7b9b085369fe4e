package tech.bsdb.index;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the filter of a packed database from front to back, from signatures in ascending order
 * (FORMAT.md §12, Filter). Keeps 4 bytes for each group of 128 quotients in memory, and the records
 * of the current group. Not thread-safe.
 */
public final class FilterWriter {
  private final FilterShape shape;
  private final PageEncoder pages;
  private final SlotWriter words;
  private final byte[] entry = new byte[Long.BYTES];
  private long word;
  private int wordBits;

  private final int[] starts;
  private final int[] counts = new int[FilterShape.IN_GROUP];
  private char[] remainders = new char[2 * FilterShape.IN_GROUP];
  private int inGroup;
  private long group;
  private long before;

  /** The records before the current run of groups, whose starts a reader stores relative to it. */
  private long beforeRun;

  /**
   * Creates a writer.
   *
   * @param pages receives the content of the file
   * @param facts the length of remainders and the number of quotients
   */
  public FilterWriter(PageEncoder pages, Facts.Filter facts) {
    this.shape = new FilterShape(facts.bits(), facts.quotients());
    this.pages = pages;
    this.words = new SlotWriter(pages, Long.BYTES);
    this.starts = new int[Math.toIntExact(shape.groups() + 1)];
  }

  /** The identity of the filter file in its database. */
  public static FileIdentity identity() {
    return new FileIdentity(FileKind.FILTER, 0);
  }

  /**
   * The facts of the filter to write for records that are about to be packed: about one quotient
   * for each.
   *
   * @param bits the length of a remainder
   * @param records the number of records, including duplicates
   */
  public static Facts.Filter facts(int bits, long records) {
    return new Facts.Filter(bits, Math.max(1, Math.min(records, Facts.MOST_QUOTIENTS)));
  }

  /** The length of the file in bytes. */
  public static long fileBytes(Facts.Filter facts, long records) {
    return new FilterShape(facts.bits(), facts.quotients()).filePages(records) << Page.SHIFT;
  }

  /**
   * Adds the signature of the next record.
   *
   * @throws IllegalStateException if it is not in order, or too many have almost the same signature
   */
  public void add(long high, long low) throws IOException {
    long quotient = shape.quotient(high);
    long own = quotient >>> FilterShape.GROUP_BITS;
    if (own < group) {
      throw new IllegalStateException("group " + own + " of quotients after group " + group);
    }
    while (group < own) {
      endGroup();
    }
    if (inGroup == remainders.length) {
      remainders = Arrays.copyOf(remainders, Math.addExact(inGroup, inGroup >> 1));
    }
    remainders[inGroup++] = (char) shape.remainder(low);
    counts[(int) quotient & FilterShape.IN_GROUP - 1]++;
  }

  /** Writes the rest. */
  public void finish() throws IOException {
    while (group < shape.groups()) {
      endGroup();
    }
    starts[(int) group] = (int) before;
    if (wordBits > 0) {
      putWord();
    }
    words.finish();
    SlotWriter entries = new SlotWriter(pages, Integer.BYTES);
    for (int start : starts) {
      BinIndex.INTS.set(entry, 0, start);
      entries.add(entry, 1);
    }
    entries.finish();
  }

  private void endGroup() throws IOException {
    starts[(int) group] = (int) before;
    if ((group & SignatureFilter.IN_RUN - 1) == 0) {
      beforeRun = before;
    }
    for (int quotient = 0; quotient < counts.length; quotient++) {
      int ones = counts[quotient];
      for (; ones >= Integer.SIZE; ones -= Integer.SIZE) {
        put(0xFFFF_FFFFL, Integer.SIZE);
      }
      put((1L << ones) - 1, ones + 1);
    }
    for (int i = 0; i < inGroup; i++) {
      put(remainders[i], shape.bits());
    }
    Arrays.fill(counts, 0);
    before += inGroup;
    inGroup = 0;
    group++;
    if (before - beforeRun >= 1L << Integer.SIZE) {
      throw new IllegalStateException(
          "more than 2^32 records in " + SignatureFilter.IN_RUN + " groups of the filter");
    }
  }

  /** Appends bits; those of the value above them are 0. */
  private void put(long value, int count) throws IOException {
    word |= value << wordBits;
    int room = Long.SIZE - wordBits;
    if (count < room) {
      wordBits += count;
      return;
    }
    putWord();
    word = count == room ? 0 : value >>> room;
    wordBits = count - room;
  }

  private void putWord() throws IOException {
    BinIndex.LONGS.set(entry, 0, word);
    words.add(entry, 1);
  }
}

package tech.bsdb.hash;

import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import java.io.IOException;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the blocks of a function of the kind "ptr" and the table of its parts (FORMAT.md §13).
 * Holds the table in memory until the end. Not thread-safe.
 */
final class PtrWriter implements HashWriter {
  private final BodyWriter body;
  private final long parts;
  private final long keys;
  private final ByteArrayList table = new ByteArrayList();
  private long addedParts;
  private long addedKeys;

  /** Creates a writer for a function of {@code keys} keys in {@code parts} parts. */
  PtrWriter(PageEncoder pages, long parts, long keys) {
    this.body = new BodyWriter(pages);
    this.parts = parts;
    this.keys = keys;
  }

  @Override
  public void add(HashConstruction.Solution part) throws IOException {
    long first = part.first() & PtrLayout.SLOT_MASK;
    if (first != addedKeys) {
      throw new IllegalStateException(
          "part " + addedParts + " starts at slot " + first + ", not " + addedKeys);
    }
    addedParts++;
    addedKeys += part.slots().length;
    byte[] block = part.block();
    table.addElements(table.size(), block, 0, Long.BYTES);
    body.put(block, Long.BYTES, block.length - Long.BYTES);
  }

  @Override
  public void finish() throws IOException {
    if (addedParts != parts || addedKeys != keys) {
      throw new IllegalStateException(
          addedKeys + " keys in " + addedParts + " parts, not " + keys + " in " + parts);
    }
    body.pad();
    body.put(table.elements(), 0, table.size());
    body.finish();
  }
}

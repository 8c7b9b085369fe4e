package tech.bsdb.order;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the tree of keys from front to back, from keys in ascending order (FORMAT.md §16): the
 * leaves at once, the levels above them at the end. Keeps these in memory, which is 0.02 to 0.03
 * bytes for each short key. Not thread-safe.
 */
public final class OrderWriter {
  /** Stands for a number of bytes in common that the caller does not know. */
  public static final int UNKNOWN = -1;

  private final PageEncoder pages;
  private final List<Level> levels = new ArrayList<>();
  private final Level leaves;
  private long records;

  /**
   * Creates a writer.
   *
   * @param pages receives the content of the file
   * @param addressBits bits of the short form of an address, 0 to 63
   */
  public OrderWriter(PageEncoder pages, int addressBits) {
    this.pages = pages;
    this.leaves = new Level(0, new NodeEncoder(0, addressBits, 1), null);
    levels.add(leaves);
  }

  /** The identity of the file in its database. */
  public static FileIdentity identity() {
    return new FileIdentity(FileKind.ORDER, 0);
  }

  /** One level of the tree. */
  private final class Level {
    private final int number;
    private final NodeEncoder node;

    /** The finished nodes; null for the leaves, which are written at once. */
    private final @Nullable ByteArrayOutputStream finished;

    private byte[] separator = new byte[0];
    private long before;
    private int pagesBefore;
    private long nodes;
    private long used;

    Level(int number, NodeEncoder node, @Nullable ByteArrayOutputStream finished) {
      this.number = number;
      this.node = node;
      this.finished = finished;
    }

    /**
     * Adds an entry.
     *
     * @param shared the number of bytes that the key has in common with the last one
     */
    void add(byte[] key, int from, int to, int shared, long value, long recordsBefore)
        throws IOException {
      if (!node.add(key, from, to, shared, value)) {
        endNode();
        // Of a leaf, the shortest separator; above, what separates the first child.
        separator = Arrays.copyOfRange(key, from, number == 0 ? from + shared + 1 : to);
        before = recordsBefore;
        node.add(key, from, to, shared, value);
      }
    }

    /** Ends the current node, which has entries. */
    void endNode() throws IOException {
      if (levels.size() == number + 1) {
        levels.add(
            new Level(
                number + 1,
                new NodeEncoder(number + 1, OrderNode.CHILD, 2),
                new ByteArrayOutputStream()));
      }
      Level above = levels.get(number + 1);
      int length = separator.length;
      above.add(
          separator, 0, length, above.node.sharedWithLast(separator, 0, length), used, before);
      int count = node.pages();
      byte[] bytes = node.encode(pagesBefore, before);
      if (finished == null) {
        pages.put(bytes, 0, bytes.length);
      } else {
        finished.write(bytes, 0, bytes.length);
      }
      pagesBefore = count;
      used += count;
      nodes++;
    }
  }

  /**
   * Adds the next key.
   *
   * @param address the short form of its record's address
   * @return false if it is the last key again, which is not added
   * @throws IllegalStateException if the key is less than the last one
   */
  public boolean add(byte[] key, int from, int to, long address) throws IOException {
    return add(key, from, to, UNKNOWN, address);
  }

  /**
   * Adds the next key.
   *
   * @param sharedWithLast the number of bytes that it has in common with the last key, or {@link
   *     #UNKNOWN}
   * @param address the short form of its record's address
   * @return false if it is the last key again, which is not added
   * @throws IllegalStateException if the key is less than the last one
   */
  public boolean add(byte[] key, int from, int to, int sharedWithLast, long address)
      throws IOException {
    int shared =
        sharedWithLast == UNKNOWN ? leaves.node.sharedWithLast(key, from, to) : sharedWithLast;
    int order = records == 0 ? 1 : leaves.node.compareWithLast(key, from, to, shared);
    if (order == 0) {
      return false;
    }
    if (order < 0) {
      throw new IllegalStateException("keys are not in ascending order");
    }
    leaves.add(key, from, to, shared, address, records);
    records++;
    return true;
  }

  /** Replaces the address of the last key. */
  public void replaceLast(long address) {
    leaves.node.replaceLast(address);
  }

  /** The number of keys. */
  public long records() {
    return records;
  }

  /**
   * Writes the rest.
   *
   * @return the number of pages of each level, from the leaves up; none if there are no keys
   */
  public List<Long> finish() throws IOException {
    List<Long> counts = new ArrayList<>();
    if (records == 0) {
      return counts;
    }
    for (int i = 0; ; i++) {
      Level level = levels.get(i);
      level.endNode();
      counts.add(level.used);
      if (level.finished != null) {
        byte[] bytes = level.finished.toByteArray();
        pages.put(bytes, 0, bytes.length);
      }
      if (level.nodes == 1) {
        return counts;
      }
    }
  }
}

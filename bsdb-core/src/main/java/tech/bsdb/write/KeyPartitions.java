package tech.bsdb.write;

import java.util.Arrays;
import tech.bsdb.data.FramedRecord;

/**
 * Divides records by their keys into partitions, whose keys are all less than those of the next. A
 * sample says where the first partitions end. The last one ends when it has grown large, at its
 * greatest key, and another begins: so records that arrive in the order of their keys, of which no
 * sample of the first ones tells where the others lie, fill partitions that grow with the number of
 * records. Not thread-safe.
 */
final class KeyPartitions {
  private final KeySplitters splitters;
  private final RecordSpill spill;
  private final int most;
  private final long leastBytes;
  private final int share;

  /** The greatest key of each partition that has ended, from that of the last splitter on. */
  private byte[][] greatest = new byte[8][];

  private int ended;

  /** The greatest key of the last partition. */
  private byte[] last = new byte[64];

  private int lastLength = -1;

  /** Whether the keys of a partition came in ascending order; false for those between splitters. */
  private final boolean[] ascending;

  /**
   * Creates partitions without records.
   *
   * @param most the most partitions
   * @param leastBytes bytes of a partition before it ends, at least
   * @param share a partition that ends has at least the part 1 / {@code share} of all bytes, so
   *     that there are few in large databases
   */
  KeyPartitions(KeySplitters splitters, RecordSpill spill, int most, long leastBytes, int share) {
    this.splitters = splitters;
    this.spill = spill;
    this.most = most;
    this.leastBytes = leastBytes;
    this.share = share;
    this.ascending = new boolean[most];
    ascending[splitters.partitions() - 1] = true;
  }

  /** The number of partitions. */
  int count() {
    return splitters.partitions() + ended;
  }

  /** Whether the records of a partition are known to be in the order of their keys. */
  boolean isInOrder(int partition) {
    return ascending[partition] || splitters.isOfOneKey(partition);
  }

  /** The partition of a record, which is to be added there. */
  int of(FramedRecord record) {
    byte[] bytes = record.head;
    int from = record.keyStart();
    int to = from + record.keyLength;
    int partition = splitters.partition(bytes, from, to);
    if (partition < splitters.partitions() - 1) {
      return partition;
    }
    if (ended > 0 && compare(greatest[ended - 1], bytes, from, to) >= 0) {
      int earlier = partition + search(bytes, from, to);
      ascending[earlier] = false;
      return earlier;
    }
    int number = partition + ended;
    if (lastLength < 0 || Arrays.compareUnsigned(last, 0, lastLength, bytes, from, to) <= 0) {
      setLast(bytes, from, to);
    } else {
      ascending[number] = false;
    }
    if (number + 1 < most && isLarge(number)) {
      if (ended == greatest.length) {
        greatest = Arrays.copyOf(greatest, 2 * ended);
      }
      greatest[ended++] = Arrays.copyOf(last, lastLength);
      lastLength = -1;
      ascending[number + 1] = true;
    }
    return number;
  }

  private boolean isLarge(int partition) {
    long bytes = spill.bytes(partition);
    return bytes >= leastBytes && bytes >= spill.recordBytes() / share;
  }

  private void setLast(byte[] bytes, int from, int to) {
    lastLength = to - from;
    if (last.length < lastLength) {
      last = new byte[2 * lastLength];
    }
    System.arraycopy(bytes, from, last, 0, lastLength);
  }

  /** The first of the ended partitions whose greatest key is not less. */
  private int search(byte[] bytes, int from, int to) {
    int low = 0;
    int high = ended - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (compare(greatest[middle], bytes, from, to) >= 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private static int compare(byte[] one, byte[] bytes, int from, int to) {
    return Arrays.compareUnsigned(one, 0, one.length, bytes, from, to);
  }
}

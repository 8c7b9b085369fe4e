package tech.bsdb.order;

import tech.bsdb.format.Page;

/**
 * The pages that the tree of some keys takes at most (FORMAT.md §16). Keys of random bytes take
 * nearly as many; keys that begin alike take fewer.
 *
 * @param leaves pages of the leaves
 * @param above pages of the levels above them, for separators as short as those of random keys
 */
public record TreeSize(long leaves, long above) {
  /** So many first bytes can tell all keys of a database apart, and so many can be common. */
  private static final int TELLING = 5;

  /**
   * The tree of keys of equal length.
   *
   * @param keys the number of keys, all distinct
   * @param addressBits bits of the short form of an address, 0 to 63
   */
  public static TreeSize of(long keys, int keyLength, int addressBits) {
    if (keys == 0) {
      return new TreeSize(0, 0);
    }
    int entry = OrderNode.entryBytes(0, keyLength);
    int inPage = entriesInPage(entry, addressBits);
    long leaves;
    long nodes;
    if (inPage == 0) {
      nodes = keys;
      leaves = keys * pages(OrderNode.nodeBytes(1, addressBits, entry));
    } else {
      long unshared = (keys + inPage - 1) / inPage;
      nodes = Math.min(unshared, sharing(keys, keyLength, entry, addressBits));
      leaves = nodes;
    }
    int separator = 1;
    for (long told = 1; told < keys && separator <= TELLING; told <<= Byte.SIZE) {
      separator++;
    }
    return new TreeSize(leaves, above(nodes, Math.min(separator, keyLength)));
  }

  /** Bytes of the nodes above the leaves in memory. */
  public long heapBytes() {
    return above * Page.PAYLOAD;
  }

  /** Pages of all nodes. */
  public long pages() {
    return leaves + above;
  }

  private static long above(long leaves, int separator) {
    int entry = OrderNode.entryBytes(0, separator);
    int inPage = Math.max(2, entriesInPage(entry, OrderNode.CHILD));
    long pages = 0;
    for (long nodes = leaves; nodes > 1; ) {
      nodes = (nodes + inPage - 1) / inPage;
      pages += nodes;
    }
    return pages;
  }

  /*
   * There are at most 256^j different beginnings of j bytes, so of all keys in order at most as many share fewer than
   * j bytes with the key before them. The first entries of blocks may share nothing. What is left at the end of a
   * node is less than an entry.
   */
  private static long sharing(long keys, int keyLength, int entry, int addressBits) {
    int largest = entry + (addressBits + 7) / 8 + OrderNode.START;
    int room =
        Page.PAYLOAD - OrderNode.HEADER - OrderNode.START - Math.min(TELLING, keyLength) - largest;
    if (room <= 0) {
      return Long.MAX_VALUE;
    }
    long blocks = keys / OrderNode.IN_BLOCK;
    double bytes = (double) keys * (entry + addressBits / 8.0) + (double) blocks * OrderNode.START;
    for (int shared = 1; shared <= Math.min(TELLING, keyLength); shared++) {
      int saved =
          OrderNode.entryBytes(shared - 1, keyLength - shared + 1)
              - OrderNode.entryBytes(shared, keyLength - shared);
      bytes -= (double) saved * Math.max(0, keys - blocks - (1L << Byte.SIZE * shared));
    }
    return (long) Math.ceil(bytes / room) + 1;
  }

  /** How many entries without a common beginning fit into a page; 0 if it takes more than one. */
  private static int entriesInPage(int entry, int width) {
    int count = 0;
    while (OrderNode.nodeBytes(count + 1, width, (count + 1) * entry) <= Page.PAYLOAD) {
      count++;
    }
    return count;
  }

  private static long pages(long bytes) {
    return (bytes + Page.PAYLOAD - 1) / Page.PAYLOAD;
  }
}

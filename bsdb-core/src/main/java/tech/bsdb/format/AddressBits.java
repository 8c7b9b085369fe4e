package tech.bsdb.format;

/**
 * Addresses in as few bits as those of one database need (FORMAT.md §16): the number of the data
 * file, the byte offset and the detail, each with as many bits as its largest value. Immutable.
 *
 * @param file bits of the file's number, 0 to 7
 * @param offset bits of the byte offset, 0 to 48
 * @param detail bits of the detail, 0 to 20
 */
public record AddressBits(int file, int offset, int detail) {
  /** No addresses. */
  public static final AddressBits NONE = new AddressBits(0, 0, 0);

  /** Checks the ranges. */
  public AddressBits {
    if (file < 0
        || file > 7
        || offset < 0
        || offset > 48
        || detail < 0
        || detail > 20
        || file + offset + detail > 63) {
      throw new IllegalArgumentException(
          "an address of " + file + ", " + offset + " and " + detail + " bits");
    }
  }

  /** The number of bits that a number from 0 on takes. */
  public static int of(long largest) {
    return Long.SIZE - Long.numberOfLeadingZeros(largest);
  }

  /** Bits of an address, 0 to 63. */
  public int all() {
    return file + offset + detail;
  }

  /** The short form of an address. */
  public long shorten(long address, RecordAddress addresses) {
    return ((long) RecordAddress.file(address) << offset | addresses.position(address)) << detail
        | addresses.detail(address);
  }

  /** The address with a short form. */
  public long address(long shortened, RecordAddress addresses) {
    long position = shortened >>> detail & (1L << offset) - 1;
    int number = (int) (shortened >>> offset + detail) & (1 << file) - 1;
    return addresses.pack(number, position, shortened & (1L << detail) - 1);
  }
}

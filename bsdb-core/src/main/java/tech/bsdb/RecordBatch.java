package tech.bsdb;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.write.FramedRecords;

/**
 * A batch of records prepared for a build, framed and with computed signatures.
 *
 * <p>For small records, filling batches is most of the work of a build, so many threads can fill
 * batches while one adds them to the builder in order. A batch belongs to one thread at a time and
 * can be reused after {@link #clear}.
 */
public final class RecordBatch {
  /** Maximum key length in bytes. */
  public static final int MAX_KEY_LENGTH = RecordFrame.MAX_KEY;

  /** Maximum value length in bytes. */
  public static final int MAX_VALUE_LENGTH = RecordFrame.MAX_VALUE;

  private final FramedRecords framed;
  private final @Nullable ValueElements elements;
  private final int maxRow;
  private final String purpose;

  /** Creates an empty batch for a build whose {@link BuildOptions#seed() seed} is 0. */
  public RecordBatch() {
    this(BuildOptions.defaults());
  }

  /**
   * Creates an empty batch for a build with these options; see {@link DatabaseBuilder#newBatch}.
   */
  RecordBatch(BuildOptions options) {
    SignatureFunction function = SignatureFunction.of(options);
    this.framed = new FramedRecords(function);
    this.elements = options.valueElements();
    boolean cuts = options.approximateWidth() > 0 && options.valueSchema() != null;
    this.maxRow = cuts ? options.approximateWidth() : MAX_VALUE_LENGTH;
    this.purpose =
        function
            + (elements == null ? "" : ", values of " + elements)
            + (cuts ? ", rows of at most " + maxRow + " bytes" : "");
  }

  /** The signatures and the form of values that a build must have to take the batch. */
  String purpose() {
    return purpose;
  }

  /** The records. */
  FramedRecords framed() {
    return framed;
  }

  /**
   * Adds a record, copying its key and value.
   *
   * @param key the array that holds the key, of 0 to {@link #MAX_KEY_LENGTH} bytes
   * @param value the array that holds the value, of 0 to {@link #MAX_VALUE_LENGTH} bytes
   * @throws IndexOutOfBoundsException if a range lies outside its array
   * @throws IllegalArgumentException if the key or the value is too long, the value does not have
   *     the length of the build's {@link BuildOptions#valueElements()}, it is a row that the build
   *     would cut to its {@link BuildOptions#approximateWidth()}, or the batch would exceed 2 GiB
   */
  public void add(
      byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
    if (elements != null && valueLength != elements.bytes()) {
      byte[] own = Arrays.copyOfRange(key, keyFrom, keyFrom + keyLength);
      throw new IllegalArgumentException(
          "the value of the key %s has %d bytes, but valueElements of %s are %d"
              .formatted(DuplicateKeyException.show(own), valueLength, elements, elements.bytes()));
    }
    if (valueLength > maxRow && maxRow < MAX_VALUE_LENGTH) {
      byte[] own = Arrays.copyOfRange(key, keyFrom, keyFrom + keyLength);
      throw new IllegalArgumentException(
          "the row of the key %s has %d bytes, but approximateWidth cuts it to %d"
              .formatted(DuplicateKeyException.show(own), valueLength, maxRow));
    }
    framed.add(key, keyFrom, keyLength, value, valueFrom, valueLength);
  }

  /**
   * Adds the deletion of a key, for a build {@linkplain DatabaseBuilder#from from a base}.
   *
   * @param key the array that holds the key, of 0 to {@link #MAX_KEY_LENGTH} bytes
   * @throws IndexOutOfBoundsException if the range lies outside the array
   * @throws IllegalArgumentException if the key is too long, or the batch would exceed 2 GiB
   */
  public void delete(byte[] key, int keyFrom, int keyLength) {
    framed.delete(key, keyFrom, keyLength);
  }

  /** The number of records in the batch, and of deletions. */
  public int records() {
    return framed.records();
  }

  /** Total size of keys and values in the batch, in bytes. */
  public long bytes() {
    return framed.bytes();
  }

  /** Removes all records. */
  public void clear() {
    framed.clear();
  }
}

package tech.bsdb.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;

/**
 * Joins the records of a packed base with changes, which are the records of another packed database
 * ({@link TaggedChange}): both in the order of their signatures, from which the result follows in
 * the same order. Not thread-safe.
 *
 * <p>Records of different keys with the same signature keep the order of the base, where a changed
 * record stays in its place; added ones follow.
 */
final class PackedJoin {
  /** Receives what becomes of the records, in the order of the result. */
  interface Receiver {
    /** Receives a record of the base that stays. */
    void keep(RecordScanner record, long high, long low) throws IOException;

    /** Receives a record that replaces one of the base. */
    void replace(RecordScanner old, Change record, long high, long low) throws IOException;

    /** Receives a record whose key is not in the base. */
    void add(Change record, long high, long low) throws IOException;

    /** Receives a record of the base that is deleted. */
    void delete(RecordScanner old);

    /** Receives the deletion of a key that is not in the base. */
    void deleteAbsent();
  }

  /** Memory of a join, for another one after it. */
  static final class Memory {
    private final Window base = new Window();
    private final Window changes = new Window();
  }

  /** A change, copied out of its stream. */
  static final class Change {
    private final byte[] bytes;
    private final int keyLength;
    private final int taggedLength;
    private final long place;
    private final boolean deletion;

    /** Whether the base has the key. */
    private boolean present;

    private Change(RecordScanner stream) {
      int from = stream.keyFrom();
      this.keyLength = stream.keyLength();
      this.taggedLength = stream.valueLength();
      boolean elsewhere = stream.isLong();
      this.place = elsewhere ? stream.place() : -1;
      int length = keyLength + (elsewhere ? 0 : taggedLength);
      this.bytes = Arrays.copyOfRange(stream.bytes(), from, from + length);
      this.deletion = !elsewhere && TaggedChange.isDeletion(bytes[keyLength]);
    }

    /** Holds the key from 0 on, and the value unless it is elsewhere. */
    byte[] bytes() {
      return bytes;
    }

    /** The length of the key. */
    int keyLength() {
      return keyLength;
    }

    /** The length of the value. */
    int valueLength() {
      return taggedLength - TaggedChange.TAG;
    }

    /** Where the value starts, unless it is elsewhere. */
    int valueFrom() {
      return keyLength + TaggedChange.TAG;
    }

    /** The {@linkplain RecordScanner#place place} of a long value with its tag; otherwise -1. */
    long place() {
      return place;
    }

    private boolean hasKeyOf(RecordScanner record) {
      int from = record.keyFrom();
      return Arrays.equals(bytes, 0, keyLength, record.bytes(), from, from + record.keyLength());
    }

    private ByteBuffer key() {
      return ByteBuffer.wrap(bytes, 0, keyLength);
    }
  }

  /** Keys of more changes with the same signature are found by their hash codes. */
  private static final int FEW = 8;

  private final SignatureCursor base;
  private final SignatureCursor changes;
  private final boolean seeks;
  private final Receiver receiver;
  private final List<Change> same = new ArrayList<>();

  private PackedJoin(
      SignatureCursor base, SignatureCursor changes, boolean seeks, Receiver receiver) {
    this.base = base;
    this.changes = changes;
    this.seeks = seeks;
    this.receiver = receiver;
  }

  /**
   * A join of a range of bins.
   *
   * @param allBins the number of bins that a range refers to
   * @param fromBin the first bin
   * @param toBin the end of the bins
   * @param memory shows the pages
   */
  static PackedJoin over(
      PackedSource base,
      PackedSource changes,
      long allBins,
      long fromBin,
      long toBin,
      Memory memory,
      Receiver receiver)
      throws IOException {
    return new PackedJoin(
        SignatureCursor.over(base, allBins, fromBin, toBin, memory.base, false),
        SignatureCursor.over(changes, allBins, fromBin, toBin, memory.changes, false),
        false,
        receiver);
  }

  /**
   * A join that looks only at the bins of the base where there are changes. Records that are not
   * there are kept without passing them on.
   *
   * @param ahead pages of the base to read at once
   */
  static PackedJoin seeking(PackedSource base, PackedSource changes, int ahead, Receiver receiver)
      throws IOException {
    return new PackedJoin(
        SignatureCursor.anywhere(base, ahead),
        SignatureCursor.over(changes, 1, 0, 1, new Window(), false),
        true,
        receiver);
  }

  /** Passes all records on. */
  void run() throws IOException {
    if (seeks) {
      while (changes.isThere()) {
        base.seek(changes.high(), changes.low());
        changed();
      }
      return;
    }
    while (base.isThere() || changes.isThere()) {
      if (base.compareSignature(changes) < 0) {
        receiver.keep(base.record(), base.high(), base.low());
        base.next();
      } else {
        changed();
      }
    }
  }

  /** Passes on the records with the signature of the next change. */
  private void changed() throws IOException {
    long high = changes.high();
    long low = changes.low();
    same.clear();
    do {
      same.add(new Change(changes.record()));
      changes.next();
    } while (changes.isAt(high, low));
    Map<ByteBuffer, Change> byKey = same.size() > FEW ? byKey() : null;
    while (base.isAt(high, low)) {
      apply(find(byKey), high, low);
      base.next();
    }
    for (Change change : same) {
      if (change.present) {
        continue;
      }
      if (change.deletion) {
        receiver.deleteAbsent();
      } else {
        receiver.add(change, high, low);
      }
    }
  }

  private Map<ByteBuffer, Change> byKey() {
    Map<ByteBuffer, Change> byKey = new HashMap<>();
    same.forEach(change -> byKey.put(change.key(), change));
    return byKey;
  }

  /** The change of the key of the base's current record. */
  private @Nullable Change find(@Nullable Map<ByteBuffer, Change> byKey) {
    if (byKey != null) {
      RecordScanner record = base.record();
      return byKey.get(ByteBuffer.wrap(record.bytes(), record.keyFrom(), record.keyLength()));
    }
    for (Change change : same) {
      if (change.hasKeyOf(base.record())) {
        return change;
      }
    }
    return null;
  }

  /** Applies a change to the base's current record. */
  private void apply(@Nullable Change change, long high, long low) throws IOException {
    if (change == null) {
      receiver.keep(base.record(), high, low);
      return;
    }
    if (change.present) {
      throw base.record().corrupt("records with different keys", "two with the same key");
    }
    change.present = true;
    if (change.deletion) {
      receiver.delete(base.record());
    } else {
      receiver.replace(base.record(), change, high, low);
    }
  }
}

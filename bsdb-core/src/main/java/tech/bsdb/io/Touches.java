package tech.bsdb.io;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Places in files in memory whose cache lines will be needed: collected first, then loaded
 * together. The loop that loads them does nothing else. The processor looks ahead by a number of
 * instructions, so the fewer there are between two loads, the more cache misses overlap. Not
 * thread-safe.
 */
public final class Touches {
  private static final int LINE = 64;
  private static final ByteBuffer[] HIDDEN = {};

  private final ByteBuffer[][] files;
  private final boolean hides;
  private int[] numbers;
  private long[] positions;
  private int count;

  /**
   * Creates an empty collection.
   *
   * @param files the files of its places, numbered from 0; null for one that is not in memory,
   *     whose places are ignored
   * @param room for how many places to expect, at least 1
   */
  public Touches(List<? extends @Nullable ShownFile> files, int room) {
    this.files = new ByteBuffer[files.size()][];
    boolean hidden = false;
    for (int i = 0; i < files.size(); i++) {
      ShownFile file = files.get(i);
      this.files[i] = file == null ? HIDDEN : file.pieces();
      hidden |= file == null;
    }
    this.hides = hidden;
    this.numbers = new int[room];
    this.positions = new long[room];
  }

  /** Adds a place: a byte offset of a file. */
  public void add(int file, long position) {
    int at = count;
    if (at == numbers.length) {
      grow();
    }
    numbers[at] = file;
    positions[at] = position;
    count = at + 1;
  }

  private void grow() {
    numbers = Arrays.copyOf(numbers, 2 * count);
    positions = Arrays.copyOf(positions, 2 * count);
  }

  /** Removes all places. */
  public void clear() {
    count = 0;
  }

  /**
   * Loads the cache lines of all places and removes the places. Verifies nothing.
   *
   * @throws IndexOutOfBoundsException if a place is not in its file
   */
  public void load() {
    int all = removeAll();
    long sum = 0;
    for (int i = 0; i < all; i++) {
      ByteBuffer[] pieces = files[numbers[i]];
      long position = positions[i];
      sum += pieces[ShownFile.piece(position)].get(ShownFile.offset(position));
    }
    keep(sum);
  }

  /** Like {@link #load}, but loads two cache lines for each place: the next one, too. */
  public void loadTwo() {
    int all = removeAll();
    long sum = 0;
    for (int i = 0; i < all; i++) {
      ByteBuffer[] pieces = files[numbers[i]];
      long position = positions[i];
      ByteBuffer piece = pieces[ShownFile.piece(position)];
      int at = ShownFile.offset(position);
      sum += piece.get(at) + piece.get(at + LINE);
    }
    keep(sum);
  }

  /** Removes all places; returns how many remain to be loaded, from the start of the arrays. */
  private int removeAll() {
    int all = count;
    count = 0;
    return hides ? withoutHidden(all) : all;
  }

  @SuppressWarnings("ReferenceEquality") // identity is meant
  private int withoutHidden(int all) {
    int shown = 0;
    for (int i = 0; i < all; i++) {
      if (files[numbers[i]] != HIDDEN) {
        numbers[shown] = numbers[i];
        positions[shown++] = positions[i];
      }
    }
    return shown;
  }

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  public static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }
}

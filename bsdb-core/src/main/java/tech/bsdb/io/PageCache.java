package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import tech.bsdb.MemoryUse;

/** Reads whole files into the page cache, in huge pages where the machine supports them. */
public final class PageCache {
  /** The pages of a file whose residency is looked at, to estimate that of the file. */
  private static final int SAMPLES = 64;

  private static final int HUGE = ChunkBuffer.HUGE_PAGE;

  private PageCache() {}

  /**
   * Returns how much of a file is in the page cache, and how much of that in huge pages. Reads
   * nothing from the device.
   */
  public static MemoryUse look(Path file, long length) throws IOException {
    long sum = 0;
    long resident = 0;
    long huge = 0;
    try (ShownFile mapping = ShownFile.mapForOne(file, length, SystemCalls.RANDOM)) {
      for (long at = 0; at < length; at += HUGE) {
        if (mapping.isResident(at, PageSource.PAGE)) {
          sum += mapping.buffer(at).get(ShownFile.offset(at)); // maps cached pages, huge or not
        }
      }
      if (length >= HUGE) { // asking takes milliseconds, which add up in a set of many shards
        huge = HugePages.of(List.of(file.toRealPath()), List.of()).hugePageBytes();
      }
      for (long at = 0; at < length; at += HUGE) {
        resident += resident(mapping, at, Math.min(HUGE, length - at));
      }
    } catch (InternalError e) {
      throw new IOException(file + ": cannot be read; it was cut short, or the device failed", e);
    }
    Touches.keep(sum);
    return new MemoryUse(length, resident, Math.min(length, huge));
  }

  private static long resident(ShownFile mapping, long from, long length) {
    if (mapping.isResident(from, length)) {
      return length;
    }
    long resident = 0;
    for (long at = 0; at < length; at += PageSource.PAGE) {
      resident += mapping.isResident(from + at, PageSource.PAGE) ? PageSource.PAGE : 0;
    }
    return resident;
  }

  /**
   * Reads a whole file into the page cache. If huge pages are wanted and available and the file is
   * not already in them, it is first dropped from the page cache, except pages that a process maps,
   * so that it is read from the device into huge pages, where the file system supports them.
   *
   * @param length the file's length, a whole number of pages
   * @param stop returns true to abandon the read
   * @param progress receives the number of bytes of each read
   */
  public static void read(
      Path file, long length, boolean inHugePages, BooleanSupplier stop, LongConsumer progress)
      throws IOException {
    ByteBuffer chunk = ByteBuffer.allocateDirect((int) Math.min(HUGE, length));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      SystemCalls calls = LinuxCalls.instance();
      if (calls == null || !inHugePages || length < HUGE || isHuge(file, length)) {
        read(file, channel, 0, length, chunk, stop, progress);
        return;
      }
      drop(calls, file, channel);
      try (ShownFile mapping = ShownFile.mapForOne(file, length, SystemCalls.HUGE_PAGES)) {
        for (long at = 0; at < length && !stop.getAsBoolean(); at += HUGE) {
          long part = Math.min(HUGE, length - at);
          mapping.advise(
              at,
              part,
              SystemCalls.POPULATE); // no effect on old kernels; the read below is what counts
          read(file, channel, at, part, chunk, stop, progress);
        }
      }
    }
  }

  /** Whether every huge-page-sized part of a file is cached in a huge page. */
  private static boolean isHuge(Path file, long length) throws IOException {
    return share(file, length) == 1 && look(file, length).hugePageBytes() >= (length & -HUGE);
  }

  private static void drop(SystemCalls calls, Path file, FileChannel channel) throws IOException {
    try {
      channel.force(false); // dirty pages cannot be dropped
    } catch (IOException e) {
      // A file system that cannot sync has nothing to drop, either.
    }
    try (NativeFile opened = NativeFile.open(calls, file, false)) {
      calls.adviseFile(opened.descriptor(), SystemCalls.NOT_NEEDED); // a refusal costs time only
    }
  }

  private static void read(
      Path file,
      FileChannel channel,
      long from,
      long length,
      ByteBuffer chunk,
      BooleanSupplier stop,
      LongConsumer progress)
      throws IOException {
    for (long done = 0; done < length && !stop.getAsBoolean(); ) {
      chunk.clear().limit((int) Math.min(chunk.capacity(), length - done));
      int got = channel.read(chunk, from + done);
      if (got < 0) {
        throw new EOFException(file + ": ends before byte " + (from + length));
      }
      done += got;
      progress.accept(got);
    }
  }

  /** Estimates the share of a file, 0 to 1, that is in memory, from some of its pages. */
  public static double share(Path file, long length) throws IOException {
    long pages = length / PageSource.PAGE;
    int samples = (int) Math.min(SAMPLES, pages);
    int resident = 0;
    try (ShownFile mapping = ShownFile.mapForOne(file, length, SystemCalls.RANDOM)) {
      for (int i = 0; i < samples; i++) {
        long page = pages / samples * i + pages % samples * i / samples;
        if (mapping.isResident(page * PageSource.PAGE, PageSource.PAGE)) {
          resident++;
        }
      }
    }
    return (double) resident / samples;
  }
}

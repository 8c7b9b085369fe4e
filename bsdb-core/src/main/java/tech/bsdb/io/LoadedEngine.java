package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads each file into dedicated off-heap memory when it is opened, where it stays regardless of
 * what else the machine reads. Opening takes the time and the memory of the whole file.
 *
 * <p>On Java 22 and newer, where native access is allowed, the memory is mapped from the kernel, in
 * huge pages if available. Otherwise it is direct buffers, which {@code -XX:MaxDirectMemorySize}
 * limits, by default to the size of the heap. The caller verifies the pages.
 */
public final class LoadedEngine implements Engine {
  private static final long HUGE_PAGE = ChunkBuffer.HUGE_PAGE;
  private static final int CHUNK = 1 << 20;

  private final @Nullable SystemCalls calls;
  private final LongSupplier available;
  private final Set<HugePages.Range> ranges = ConcurrentHashMap.newKeySet();

  /** Creates the engine. */
  public LoadedEngine() {
    this(LinuxCalls.instance(), Memory::available);
  }

  /** Creates the engine with other system calls, or without any. */
  LoadedEngine(@Nullable SystemCalls calls) {
    this(calls, Memory::available);
  }

  private LoadedEngine(@Nullable SystemCalls calls, LongSupplier available) {
    this.calls = calls;
    this.available = available;
  }

  /** Creates the engine for a machine with {@code available} bytes of free memory. */
  public static LoadedEngine within(LongSupplier available) {
    return new LoadedEngine(LinuxCalls.instance(), available);
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public boolean showsMemory() {
    return true;
  }

  /**
   * Fails unless the machine has enough free memory for the files about to be loaded.
   *
   * @param what the path to name in the message
   * @param bytes the total size of its files
   */
  public void requireRoom(Path what, long bytes) throws IOException {
    Memory.require(what, bytes, "be loaded by the memory engine", available.getAsLong());
  }

  /** The kernel memory ranges that hold loaded files now, not counting direct buffers. */
  Collection<HugePages.Range> ranges() {
    return ranges;
  }

  @Override
  public ShownFile open(Path file, long length) throws IOException {
    return calls == null ? buffers(file, length) : nativeMemory(calls, file, length);
  }

  private ShownFile nativeMemory(SystemCalls calls, Path file, long length) throws IOException {
    boolean large = length >= HUGE_PAGE; // a smaller file would still take a whole huge page
    long room = large ? (length + HUGE_PAGE - 1 & -HUGE_PAGE) + HUGE_PAGE : length;
    try (NativeFile source = NativeFile.open(calls, file, false)) {
      long base = calls.mapMemory(room);
      if (base < 0) {
        throw new IOException(tooLarge(file, length) + ": " + Errno.text((int) -base));
      }
      SystemCalls.Views views = calls.views();
      try {
        long start = large ? base + HUGE_PAGE - 1 & -HUGE_PAGE : base;
        if (large) {
          calls.advise(start, room - HUGE_PAGE, SystemCalls.HUGE_PAGES); // optional, but faster
        }
        ByteBuffer[] pieces = new ByteBuffer[ShownFile.pieces(length)];
        for (int i = 0; i < pieces.length; i++) {
          pieces[i] = shown(views.view(start + ShownFile.start(i), ShownFile.size(length, i)));
        }
        for (long at = 0; at < length; at += CHUNK) {
          int part = (int) Math.min(CHUNK, length - at);
          source.read(at, part, start + at);
        }
        HugePages.Range range = new HugePages.Range(start, length);
        ranges.add(range);
        return new ShownFile(
            pieces,
            true,
            () -> {
              ranges.remove(range);
              views.close();
              calls.unmap(base, room);
            });
      } catch (IOException | RuntimeException | Error e) {
        views.close();
        calls.unmap(base, room);
        throw e;
      }
    }
  }

  private static ShownFile buffers(Path file, long length) throws IOException {
    ByteBuffer[] pieces = new ByteBuffer[ShownFile.pieces(length)];
    byte[] chunk = new byte[CHUNK];
    try (RandomAccessFile source = new RandomAccessFile(file.toFile(), "r")) {
      for (int i = 0; i < pieces.length; i++) {
        int size = ShownFile.size(length, i);
        ByteBuffer memory = ByteBuffer.allocateDirect(size);
        pieces[i] = shown(memory);
        source.seek(ShownFile.start(i));
        for (int at = 0; at < size; at += CHUNK) {
          int part = Math.min(CHUNK, size - at);
          source.readFully(chunk, 0, part);
          memory.put(at, chunk, 0, part);
        }
      }
      return new ShownFile(pieces, true, () -> {});
    } catch (OutOfMemoryError e) {
      throw new IOException(
          tooLarge(file, length) + ": " + e.getMessage() + "; see -XX:MaxDirectMemorySize", e);
    } catch (EOFException e) {
      throw NativeFile.cutShort(file, length);
    }
  }

  /** The same view as of mapped files, so that code reading both sees buffers of one class. */
  private static ByteBuffer shown(ByteBuffer memory) {
    return memory.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private static String tooLarge(Path file, long length) {
    return file + ": its " + length + " bytes do not fit in memory";
  }
}

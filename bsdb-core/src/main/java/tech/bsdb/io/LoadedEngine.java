package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads each file into memory of its own, outside the heap, when it is opened: it stays there
 * whatever else the machine reads. Takes the time and the memory of the whole file.
 *
 * <p>On Java 22 and newer, where native access is allowed, the memory is the kernel's, in huge
 * pages if it has some. Else it is direct buffers, which {@code -XX:MaxDirectMemorySize} limits, by
 * default to the size of the heap. Checksums are the caller's to verify.
 */
public final class LoadedEngine implements Engine {
  private static final int SHIFT = 30;
  private static final long HUGE_PAGE = 1L << 21;
  private static final int CHUNK = 1 << 20;

  private final @Nullable SystemCalls calls;

  /** The engine. */
  public LoadedEngine() {
    this(LinuxCalls.instance());
  }

  /** With other system calls, or none. */
  LoadedEngine(@Nullable SystemCalls calls) {
    this.calls = calls;
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public boolean showsMemory() {
    return true;
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    return calls == null ? buffers(file, length) : nativeMemory(calls, file, length);
  }

  private static PageSource nativeMemory(SystemCalls calls, Path file, long length)
      throws IOException {
    long room = (length + HUGE_PAGE - 1 & -HUGE_PAGE) + HUGE_PAGE;
    try (NativeFile source = NativeFile.open(calls, file, false)) {
      long base = calls.mapMemory(room);
      if (base < 0) {
        throw new IOException(tooLarge(file, length) + ": " + Errno.text((int) -base));
      }
      try {
        long start = base + HUGE_PAGE - 1 & -HUGE_PAGE;
        calls.advise(start, room - HUGE_PAGE, SystemCalls.HUGE_PAGES); // without, it is slower
        for (long at = 0; at < length; at += CHUNK) {
          source.read(at, (int) Math.min(CHUNK, length - at), start + at);
        }
        ByteBuffer[] pieces = new ByteBuffer[pieces(length)];
        for (int i = 0; i < pieces.length; i++) {
          pieces[i] =
              calls
                  .view(start + ((long) i << SHIFT), size(length, i))
                  .order(ByteOrder.LITTLE_ENDIAN);
        }
        return new LoadedPages(pieces, () -> calls.unmap(base, room));
      } catch (IOException | RuntimeException | Error e) {
        calls.unmap(base, room);
        throw e;
      }
    }
  }

  private static PageSource buffers(Path file, long length) throws IOException {
    ByteBuffer[] pieces = new ByteBuffer[pieces(length)];
    LoadedPages pages = new LoadedPages(pieces, () -> free(pieces));
    byte[] chunk = new byte[CHUNK];
    try (RandomAccessFile source = new RandomAccessFile(file.toFile(), "r")) {
      for (int i = 0; i < pieces.length; i++) {
        int size = size(length, i);
        ByteBuffer piece = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        pieces[i] = piece;
        source.seek((long) i << SHIFT);
        for (int at = 0; at < size; at += CHUNK) {
          int part = Math.min(CHUNK, size - at);
          source.readFully(chunk, 0, part);
          piece.put(at, chunk, 0, part);
        }
      }
      return pages;
    } catch (OutOfMemoryError e) {
      pages.close();
      throw new IOException(tooLarge(file, length) + ": " + e.getMessage(), e);
    } catch (EOFException e) {
      pages.close();
      throw NativeFile.cutShort(file, length);
    } catch (IOException | RuntimeException e) {
      pages.close();
      throw e;
    }
  }

  private static String tooLarge(Path file, long length) {
    return file + ": its " + length + " bytes do not fit in memory";
  }

  private static int pieces(long length) {
    return Math.toIntExact((length - 1 >>> SHIFT) + 1);
  }

  /** Bytes of a piece; neighbours share {@link Mapping#OVERLAP}. */
  private static int size(long length, int piece) {
    return (int) Math.min(length - ((long) piece << SHIFT), (1L << SHIFT) + Mapping.OVERLAP);
  }

  private static void free(ByteBuffer[] pieces) {
    for (ByteBuffer piece : pieces) {
      if (piece != null) {
        BufferCleaner.free(piece);
      }
    }
  }

  private static final class LoadedPages implements PageSource {
    private final ByteBuffer[] pieces;
    private @Nullable Runnable free;

    LoadedPages(ByteBuffer[] pieces, Runnable free) {
      this.pieces = pieces;
      this.free = free;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a store of the same reference would cost a barrier
    public void read(long first, int count, Window window) {
      long position = first * PAGE;
      ByteBuffer buffer = pieces[(int) (position >>> SHIFT)];
      if (window.buffer != buffer) {
        window.buffer = buffer;
      }
      window.offset = (int) position & (1 << SHIFT) - 1;
    }

    @Override
    public long touch(long position) {
      return pieces[(int) (position >>> SHIFT)].get((int) position & (1 << SHIFT) - 1);
    }

    @Override
    public void close() {
      Runnable last = free;
      free = null;
      if (last != null) {
        last.run();
      }
    }
  }
}

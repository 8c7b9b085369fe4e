package tech.bsdb.io;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * Maps files for reading, in the pieces of a {@link ShownFile}.
 *
 * <p>This version serves Java 22 and newer: a shared arena unmaps at a known time, and a read after
 * that throws an {@link IllegalStateException}. The class must have the same members as the Java 17
 * class of the same name.
 */
final class Mapping {
  private Mapping() {}

  /** Maps the first {@code length} bytes of a file that has them. */
  static ShownFile map(FileChannel channel, long length) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment whole = channel.map(MapMode.READ_ONLY, 0, length, arena);
      ByteBuffer[] pieces = new ByteBuffer[ShownFile.pieces(length)];
      for (int i = 0; i < pieces.length; i++) {
        pieces[i] = whole.asSlice(ShownFile.start(i), ShownFile.size(length, i)).asByteBuffer();
      }
      return new ShownFile(pieces, false, () -> Arenas.close(arena));
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }
}

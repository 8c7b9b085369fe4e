package tech.bsdb.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * Maps files for reading, in the pieces of a {@link ShownFile}.
 *
 * <p>This version serves Java 17 to 21, where the garbage collector unmaps a file that nobody has a
 * buffer of. On Java 22 and newer, the overlay class of the same name replaces it.
 */
final class Mapping {
  private Mapping() {}

  /** Maps the first {@code length} bytes of a file that has them. */
  static ShownFile map(FileChannel channel, long length) throws IOException {
    ByteBuffer[] pieces = new ByteBuffer[ShownFile.pieces(length)];
    try {
      for (int i = 0; i < pieces.length; i++) {
        long start = ShownFile.start(i);
        pieces[i] = channel.map(MapMode.READ_ONLY, start, ShownFile.size(length, i));
      }
    } catch (IOException | RuntimeException | Error e) {
      for (ByteBuffer piece : pieces) {
        if (piece != null) {
          BufferCleaner.free(piece); // which the next attempt may need
        }
      }
      throw e;
    }
    return new ShownFile(pieces, false, () -> {});
  }
}

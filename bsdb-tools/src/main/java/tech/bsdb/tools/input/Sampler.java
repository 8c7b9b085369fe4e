package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;

/**
 * Samples records at evenly spaced places of uncompressed files of lines, whatever the number of
 * threads.
 *
 * <p>At each place it takes its share of whole lines. It skips bad lines, and places without a
 * whole line in reach. A line is never taken twice.
 */
final class Sampler {
  private static final int MOST_PLACES = 1 << 10;
  private static final long MOST_BYTES = 32L << 20;
  private static final int WINDOW = 1 << 16;
  private static final int LARGEST_WINDOW = 1 << 22;

  private final List<InputFile> files;
  private final InputOptions options;
  private final RecordSyntax.ChunkParser parser;
  private final RecordVisitor visitor;
  private int given;
  private long givenBytes;

  Sampler(List<InputFile> files, InputOptions options, RecordVisitor visitor) {
    this.files = files;
    this.options = options.withOnBadLine(InputOptions.OnBadLine.SKIP);
    this.parser = new RecordSyntax(this.options).newParser();
    this.visitor = visitor;
  }

  /** Whether records of the input can be sampled before all of it is read. */
  static boolean canSample(List<InputFile> files, InputOptions options) {
    return !(options.format() instanceof Format.Csv)
        && options.encoding().equals(StandardCharsets.UTF_8)
        && files.stream()
            .allMatch(file -> file.size() >= 0 && file.compression() == Compression.NONE);
  }

  /** Passes up to {@code records} records to the visitor, in their order. */
  int sample(int records) throws IOException {
    long total = files.stream().mapToLong(InputFile::size).sum();
    int places = (int) Math.min(Math.min(records, MOST_PLACES), total);
    long fileStart = 0;
    int place = 0;
    for (InputFile file : files) {
      long fileEnd = fileStart + file.size();
      if (file.path() != null && place < places && placeInInput(place, places, total) < fileEnd) {
        try (SeekableByteChannel channel = Files.newByteChannel(file.path())) {
          long free = 0;
          for (; place < places && placeInInput(place, places, total) < fileEnd; place++) {
            long at = Math.max(free, placeInInput(place, places, total) - fileStart);
            int share = (int) ((place + 1L) * records / places) - given;
            long byteShare = (long) ((place + 1.0) / places * MOST_BYTES) - givenBytes;
            free = sampleAt(channel, at, share, byteShare);
          }
        } catch (IOException failure) {
          throw InputException.reading(file.name(), failure);
        }
      }
      fileStart = fileEnd;
    }
    return given;
  }

  private static long placeInInput(int place, int places, long total) {
    return total / places * place + total % places * place / places;
  }

  /** Takes whole lines from a place in a file onwards; returns the place after them. */
  private long sampleAt(SeekableByteChannel channel, long place, int records, long bytes)
      throws IOException {
    if (records <= 0 || bytes <= 0) {
      return place;
    }
    Chunk chunk = new Chunk(0, new Share(bytes), options);
    // The byte before it shows whether the place begins a line.
    long from = Math.max(0, place - 1);
    for (int window = WINDOW; window <= LARGEST_WINDOW; window *= 8) {
      boolean toEnd = read(channel, from, window, chunk);
      chunk.from =
          place == 0
              ? InputFile.byteOrderMarkLength(chunk.bytes)
              : lineAfter(chunk.bytes, 0, chunk.to, toEnd);
      int end = chunk.from;
      for (int i = 0; i < records && end >= 0 && end < chunk.to; i++) {
        int next = lineAfter(chunk.bytes, end, chunk.to, toEnd);
        if (next < 0) {
          break;
        }
        end = next;
      }
      if (end > chunk.from && chunk.from >= 0) {
        chunk.to = end;
        parser.parse(chunk);
        return from + end;
      }
    }
    return place;
  }

  private static int lineAfter(byte[] bytes, int from, int to, boolean toEnd) {
    int lineFeed = ByteSearch.indexOf(bytes, from, to, (byte) '\n');
    return lineFeed >= 0 ? lineFeed + 1 : toEnd ? to : -1;
  }

  /** Reads into the chunk; returns whether the file ends there. */
  private static boolean read(SeekableByteChannel channel, long from, int length, Chunk chunk)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    channel.position(from);
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // until it is full or the file ends
    }
    chunk.clear();
    chunk.bytes = bytes.array();
    chunk.to = bytes.position();
    return bytes.hasRemaining();
  }

  /** Passes on the first records, up to about {@code bytes} bytes. */
  private final class Share implements Batch {
    private long bytes;

    Share(long bytes) {
      this.bytes = bytes;
    }

    @Override
    public void visit(
        byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength)
        throws IOException {
      if (bytes > 0) {
        visitor.visit(key, keyFrom, keyLength, value, valueFrom, valueLength);
        bytes -= keyLength + (long) valueLength;
        given++;
        givenBytes += keyLength + (long) valueLength;
      }
    }

    @Override
    public void handOn() {}
  }
}

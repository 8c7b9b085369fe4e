package tech.bsdb.lake.orc;

import java.io.EOFException;
import java.io.IOException;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FileSystem;
import org.apache.orc.DataReader;
import org.apache.orc.StripeInformation;
import org.apache.orc.TypeDescription;
import org.apache.orc.impl.DataReaderProperties;
import org.apache.orc.impl.InStream;
import org.apache.orc.impl.OrcCodecPool;
import org.apache.orc.impl.PositionProvider;
import org.apache.orc.impl.ReaderImpl;
import org.apache.orc.impl.RecordReaderUtils;
import org.apache.orc.impl.SchemaEvolution;
import org.apache.orc.impl.StreamName;
import org.apache.orc.impl.TreeReaderFactory;
import org.apache.orc.impl.reader.StripePlanner;
import org.apache.orc.impl.reader.tree.BatchReader;
import org.apache.orc.impl.reader.tree.TypeReader.ReadPhase;
import org.apache.orc.storage.common.io.DiskRangeList;
import org.apache.orc.storage.ql.exec.vector.VectorizedRowBatch;
import org.jspecify.annotations.Nullable;

/**
 * The vectors of a stripe, by the parts of which the library's own {@code RecordReader} consists.
 * To that one, a stream's end is no error: its decoder of integers asks for more bytes for hours.
 */
final class OrcStripe implements AutoCloseable {
  private static final int MAX_READ = 1 << 30;

  private final StripeInformation stripe;
  private final DataReader data;
  private final StripePlanner streams;
  private final BatchReader columns;
  private long read;

  /**
   * Reads a stripe's footer.
   *
   * @param included whether to read each type, by its id
   */
  OrcStripe(ReaderImpl file, FileSystem files, StripeInformation stripe, boolean[] included)
      throws IOException {
    TypeDescription schema = file.getSchema();
    this.stripe = stripe;
    this.columns =
        TreeReaderFactory.createRootReader(
            schema,
            new TreeReaderFactory.ReaderContext()
                .setSchemaEvolution(
                    new SchemaEvolution(schema, null, file.options().include(included)))
                .fileFormat(file.getFileVersion())
                .useUTCTimestamp(true)
                .setProlepticGregorian(
                    file.writerUsedProlepticGregorian(), file.getConvertToProlepticGregorian())
                .setEncryption(file.getEncryption()));
    this.data =
        RecordReaderUtils.createDefaultDataReader(
            DataReaderProperties.builder()
                .withFileSystemSupplier(() -> files)
                .withPath(OneFileSystem.PATH)
                .withCompression(
                    InStream.options()
                        .withCodec(OrcCodecPool.getCodec(file.getCompressionKind()))
                        .withBufferSize(file.getCompressionSize()))
                .build());
    this.streams =
        new StripePlanner(
            schema, file.getEncryption(), data, file.getWriterVersion(), true, MAX_READ) {
          @Override
          public @Nullable InStream getStream(StreamName name) throws IOException {
            InStream stream = super.getStream(name);
            return stream == null ? null : new WholeStream(name, stream);
          }
        };
    try {
      streams.parseStripe(stripe, included);
    } catch (IOException | RuntimeException | Error e) {
      data.close();
      throw e;
    }
  }

  /** Returns the time zone of the writer of its timestamps; empty if it is not named. */
  String zone() {
    return streams.getWriterTimezone();
  }

  /** Reads the next rows. Returns false after the last ones. */
  boolean next(VectorizedRowBatch batch) throws IOException {
    if (read == 0) {
      streams.readData(null, null, false, ReadPhase.ALL);
      columns.startStripe(streams, ReadPhase.ALL);
    }
    long rows = Math.min(stripe.getNumberOfRows() - read, batch.getMaxSize());
    batch.size = 0;
    if (rows > 0) {
      columns.nextBatch(batch, (int) rows, ReadPhase.ALL);
      read += rows;
    }
    return rows > 0;
  }

  /** Returns how many rows were read. */
  long read() {
    return read;
  }

  @Override
  public void close() throws IOException {
    data.close();
  }

  /** A stream beyond whose end nothing can be read. */
  private static final class WholeStream extends InStream {
    private final InStream in;

    WholeStream(StreamName name, InStream in) {
      super(name, 0, 0);
      this.in = in;
    }

    private int found(int read) throws EOFException {
      if (read < 0) {
        throw new EOFException("stream " + name + " ends too early");
      }
      return read;
    }

    @Override
    public int read() throws IOException {
      return found(in.read());
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      return found(in.read(to, from, length));
    }

    @Override
    public int available() throws IOException {
      return in.available();
    }

    @Override
    public void seek(PositionProvider index) throws IOException {
      in.seek(index);
    }

    @Override
    public void changeIv(Consumer<byte[]> modifier) {
      in.changeIv(modifier);
    }

    @Override
    protected void setCurrent(DiskRangeList newRange, boolean isJump) {}

    @Override
    public void close() {
      in.close();
    }
  }
}

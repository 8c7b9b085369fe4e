package tech.bsdb.tools.avro;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.InvalidAvroMagicException;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileConstants;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableInput;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.source.SourceInput;
import tech.bsdb.tools.table.TableFile;

/**
 * An object container file. Its parts are ranges of bytes: a block belongs to that in which the
 * sync marker before it ends.
 *
 * @see <a
 *     href="https://avro.apache.org/docs/1.12.0/specification/#object-container-files">specification</a>
 */
final class AvroFile implements TableFile {
  private static final long PART_BYTES = 16 << 20;

  private final SourceFile file;
  private final Schema schema;
  private final AvroTypes types;
  private final List<Part> parts = new ArrayList<>();

  private AvroFile(SourceFile file, Schema schema) {
    this.file = file;
    this.schema = schema;
    this.types = AvroTypes.of(schema);
    for (long from = 0; from < file.length(); from += PART_BYTES) {
      parts.add(new Part(parts.size(), "", Math.min(PART_BYTES, file.length() - from)));
    }
  }

  /**
   * Reads a file's header.
   *
   * @throws InputException if it is not an Avro file, is damaged, or is compressed in a way that
   *     cannot be read
   */
  static AvroFile of(SourceFile file) throws IOException {
    if (file.length() < 0) {
      throw new InputException(file.name() + ": its length is not known");
    }
    try (DataFileReader<Object> reader = reader(file)) {
      Schema schema = reader.getSchema();
      if (schema.getType() != Schema.Type.RECORD) {
        throw new InputException(
            "%s: its rows are of type %s, not records"
                .formatted(file.name(), schema.getType().getName()));
      }
      checkCodec(file, reader.getMetaString(DataFileConstants.CODEC));
      return new AvroFile(file, schema);
    } catch (InvalidAvroMagicException e) {
      throw new InputException(
          file.name() + ": not an Avro file (object container file): it does not begin with Obj",
          e);
    } catch (AvroRuntimeException | IOException e) {
      throw damaged(file.name(), "its header cannot be read", e);
    }
  }

  private static DataFileReader<Object> reader(SourceFile file) throws IOException {
    Input in = new Input(file.open(), file.length());
    try {
      return new DataFileReader<>(in, new GenericDatumReader<>());
    } catch (IOException | RuntimeException | Error e) {
      in.close();
      throw e;
    }
  }

  private static void checkCodec(SourceFile file, @Nullable String codec) throws InputException {
    if (codec == null) {
      return;
    }
    try {
      CodecFactory.fromString(codec);
    } catch (AvroRuntimeException unknown) {
      throw new InputException(
          "%s: is compressed with %s, which is not supported".formatted(file.name(), codec),
          unknown);
    }
  }

  private static InputException damaged(String name, String what, Exception e) {
    if (e instanceof InputException named) {
      return named;
    }
    return new InputException(name + ": damaged: " + what + " (" + e.getMessage() + ")", e);
  }

  @Override
  public String name() {
    return file.name();
  }

  @Override
  public List<Column> columns() {
    return types.columns();
  }

  @Override
  public Map<String, String> unreadable() {
    return types.unreadable();
  }

  @Override
  public List<String> directories() {
    return file.partitions();
  }

  @Override
  public List<Part> parts() {
    return parts;
  }

  @Override
  public boolean isUnchanged() {
    return file.isUnchanged();
  }

  @Override
  public Rows open(Part part, List<Integer> columns) throws IOException {
    DataFileReader<Object> reader = reader(file);
    try {
      if (!reader.getSchema().equals(schema)) {
        throw new InputException(name() + ": was changed while it was read; build again");
      }
      return new BlockRows(reader, part, columns);
    } catch (IOException | RuntimeException | Error e) {
      reader.close();
      throw e;
    }
  }

  /** The rows of the blocks of a part. */
  private final class BlockRows implements Rows {
    private final DataFileReader<Object> reader;
    private final long start;
    private final long end;
    private final @Nullable AvroValue[] fields;
    private final int[] columnOfField;
    private final @Nullable Object[] values;
    private AvroValue.In in =
        new AvroValue.In(DecoderFactory.get().binaryDecoder(new byte[0], null));
    private long block;
    private long left;

    BlockRows(DataFileReader<Object> reader, Part part, List<Integer> columns) throws IOException {
      this.reader = reader;
      this.start = part.index() * PART_BYTES;
      this.end = start + part.bytes();
      this.fields = new @Nullable AvroValue[schema.getFields().size()];
      this.columnOfField = new int[fields.length];
      this.values = new @Nullable Object[types.columns().size()];
      for (int column : columns) {
        int place = types.places().get(column);
        fields[place] =
            AvroValue.of(
                schema.getFields().get(place).schema(), types.columns().get(column).type());
        columnOfField[place] = column;
      }
      if (start > 0) {
        reader.sync(start);
      }
    }

    @Override
    public boolean next() throws IOException {
      try {
        while (left == 0) {
          if (!nextBlock()) {
            return false;
          }
        }
        read();
        return true;
      } catch (IOException | RuntimeException e) {
        throw damaged(name(), "the block at byte " + reader.previousSync(), e);
      }
    }

    private boolean nextBlock() throws IOException {
      if (!in.decoder.isEnd()) {
        throw new IOException("it has bytes beyond its rows");
      }
      if (!reader.hasNext()) {
        if (reader.previousSync() != file.length()) { // the library takes it for the end
          throw new IOException("the file ends within it");
        }
        return false;
      }
      if (reader.pastSync(end)) {
        return false;
      }
      block = reader.previousSync();
      left = reader.getBlockCount();
      ByteBuffer bytes = reader.nextBlock();
      BinaryDecoder decoder =
          DecoderFactory.get()
              .binaryDecoder(
                  bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining(), null);
      in = new AvroValue.In(decoder);
      return true;
    }

    private void read() throws IOException {
      left--;
      for (int i = 0; i < fields.length; i++) {
        AvroValue field = fields[i];
        if (field == null) {
          GenericDatumReader.skip(schema.getFields().get(i).schema(), in.decoder);
        } else {
          in.problem = null;
          Object value = field.read(in);
          values[columnOfField[i]] = in.problem == null ? value : in.problem;
        }
      }
    }

    @Override
    public @Nullable Object value(int column) throws BadValueException {
      if (values[column] instanceof BadValueException bad) {
        throw bad;
      }
      return values[column];
    }

    @Override
    public long done() {
      return Math.max(0, block - start);
    }

    @Override
    public void close() throws IOException {
      reader.close();
    }
  }

  /** A file as Avro reads it. */
  private record Input(SourceInput in, long length) implements SeekableInput {
    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long tell() throws IOException {
      return in.position();
    }

    @Override
    public int read(byte[] to, int from, int count) throws IOException {
      return in.read(to, from, count);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}

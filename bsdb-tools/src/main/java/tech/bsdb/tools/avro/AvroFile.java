package tech.bsdb.tools.avro;

import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.table.FormatFile;
import tech.bsdb.tools.table.TableFile;

/**
 * An object container file. Its parts are ranges of bytes: a block belongs to that in which the
 * sync marker before it begins.
 *
 * @see <a
 *     href="https://avro.apache.org/docs/1.12.0/specification/#object-container-files">specification</a>
 */
final class AvroFile extends FormatFile {
  private static final long PART_BYTES = 16 << 20;

  private final long partBytes;
  private final AvroBlocks.Header header;
  private final AvroTypes types;

  private AvroFile(SourceFile file, AvroBlocks.Header header, long partBytes) {
    super(file);
    this.partBytes = partBytes;
    this.header = header;
    this.types = AvroTypes.of(header.schema());
    columns.addAll(types.columns());
    unreadable.putAll(types.unreadable());
    for (long from = 0; from < file.length(); from += partBytes) {
      parts.add(new Part(parts.size(), "", Math.min(partBytes, file.length() - from)));
    }
  }

  /**
   * Reads a file's header.
   *
   * @throws InputException if it is not an Avro file, is damaged, or is compressed in a way that
   *     cannot be read
   */
  static TableFile of(SourceFile file) throws IOException {
    return of(file, PART_BYTES);
  }

  /** Reads a file's header; its parts have a number of bytes. */
  static TableFile of(SourceFile file, long partBytes) throws IOException {
    if (file.length() < 0) {
      throw new InputException(file.name() + ": its length is not known");
    }
    AvroBlocks.Header header;
    try (AvroBlocks blocks = new AvroBlocks(file)) {
      header = blocks.header();
    } catch (InputException e) {
      throw named(file, e);
    } catch (IOException | RuntimeException e) {
      throw damaged(file, "its header cannot be read", e);
    }
    Schema schema = header.schema();
    if (schema.getType() != Schema.Type.RECORD) {
      throw new InputException(
          "%s: its rows are of type %s, not records"
              .formatted(file.name(), schema.getType().getName()));
    }
    return new AvroFile(file, header, partBytes);
  }

  private static InputException named(SourceFile file, InputException e) {
    String message = String.valueOf(e.getMessage());
    return message.startsWith(file.name())
        ? e
        : new InputException(file.name() + ": " + message, e);
  }

  private static InputException damaged(SourceFile file, String what, Exception e) {
    if (e instanceof InputException named) {
      return named;
    }
    String why =
        e instanceof EOFException && e.getMessage() == null // that of Avro's decoder
            ? "it ends too early"
            : String.valueOf(e.getMessage());
    return new InputException(file.name() + ": damaged: " + what + " (" + why + ")", e);
  }

  @Override
  public Rows open(Part part, List<Integer> columns) throws IOException {
    AvroBlocks blocks = new AvroBlocks(file);
    try {
      return new BlockRows(blocks, part, columns);
    } catch (IOException | RuntimeException | Error e) {
      blocks.close();
      throw e;
    }
  }

  /** The rows of the blocks of a part. */
  private final class BlockRows implements Rows {
    private final AvroBlocks blocks;
    private final long start;
    private final long end;
    private final List<Schema.Field> schemas = header.schema().getFields();
    private final @Nullable AvroValue[] fields;
    private final int[] columnOfField;
    private final @Nullable Object[] values;
    private AvroValue.In in;
    private long block;
    private long row;
    private long left;

    BlockRows(AvroBlocks blocks, Part part, List<Integer> columns) throws IOException {
      this.blocks = blocks;
      this.start = part.index() * partBytes;
      this.end = start + part.bytes();
      this.fields = new @Nullable AvroValue[schemas.size()];
      this.columnOfField = new int[fields.length];
      this.values = new @Nullable Object[types.columns().size()];
      for (int column : columns) {
        int place = types.places().get(column);
        fields[place] =
            AvroValue.of(schemas.get(place).schema(), types.columns().get(column).type());
        columnOfField[place] = column;
      }
      this.in = new AvroValue.In(DecoderFactory.get().binaryDecoder(new byte[0], null));
      blocks.toBlock(header, start);
    }

    @Override
    public boolean next() throws IOException {
      try {
        while (left == 0) {
          row = 0;
          if (!in.decoder.isEnd()) {
            throw new IOException("it has bytes beyond its rows");
          }
          if (!blocks.hasNext(end)) {
            return false;
          }
          block = blocks.position();
          left = AvroValue.checked(blocks.rows(), header.schema());
          byte[] rows = blocks.block(header);
          in = new AvroValue.In(DecoderFactory.get().binaryDecoder(rows, 0, rows.length, null));
        }
        left--;
        row++;
        read();
        return true;
      } catch (IOException | RuntimeException e) {
        throw damaged(file, place(), e);
      } catch (StackOverflowError e) {
        throw damaged(file, place(), new IOException("it is nested too deeply", e));
      }
    }

    private String place() {
      return (row == 0 ? "" : "row " + row + " of ") + "the block at byte " + block;
    }

    private void read() throws IOException {
      for (int i = 0; i < fields.length; i++) {
        AvroValue field = fields[i];
        if (field == null) {
          AvroValue.skip(schemas.get(i).schema(), in.decoder);
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
      blocks.close();
    }
  }
}

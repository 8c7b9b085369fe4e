package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.airlift.slice.SliceUtf8;
import io.airlift.slice.Slices;
import io.trino.spi.Page;
import io.trino.spi.PageBuilder;
import io.trino.spi.block.BlockBuilder;
import io.trino.spi.type.Type;
import io.trino.spi.type.VarcharType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowDecoder;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.trino.BsdbColumn.Origin;
import tech.bsdb.trino.OpenTables.Use;
import tech.bsdb.trino.RowTypes.Cell;

/** Collects the wanted columns of records in a page. Not thread-safe. */
final class PageRows {
  private final BsdbColumn[] columns;

  /** Where the decoded value of each column is; -1 if the column is no field. */
  private final int[] places;

  private final @Nullable Cell[] cells;
  private final @Nullable RowDecoder decoder;
  private final boolean readsValues;
  private final PageBuilder page;

  /**
   * Creates an empty page.
   *
   * @param wanted the columns
   * @throws IllegalArgumentException if the database has not the columns of the table
   */
  PageRows(BsdbTable table, Use use, RowTypes types, List<BsdbColumn> wanted) {
    columns = wanted.toArray(new BsdbColumn[0]);
    places = new int[columns.length];
    cells = new Cell[columns.length];
    RowSchema schema = use.rows();
    List<String> fields =
        wanted.stream()
            .filter(column -> column.origin() == Origin.FIELD)
            .map(BsdbColumn::field)
            .toList();
    List<Column> decoded =
        schema == null
            ? List.of()
            : schema.types().stream().filter(column -> fields.contains(column.name())).toList();
    List<String> names = decoded.stream().map(Column::name).toList();
    for (int i = 0; i < columns.length; i++) {
      places[i] = columns[i].origin() == Origin.FIELD ? names.indexOf(columns[i].field()) : -1;
      if (columns[i].origin() == Origin.FIELD) {
        if (places[i] < 0) {
          throw new IllegalArgumentException(
              table.describe() + " has no column " + columns[i].field());
        }
        cells[i] = types.of(decoded.get(places[i]).type(), columns[i].name());
      }
    }
    decoder =
        schema == null || decoded.isEmpty()
            ? null
            : new RowDecoder(RowForm.of(schema).withColumns(names), new DecodedRow());
    readsValues =
        decoder != null || wanted.stream().anyMatch(column -> column.origin() == Origin.VALUE);
    page = new PageBuilder(wanted.stream().map(BsdbColumn::type).toList());
  }

  /** The number of columns. */
  int width() {
    return columns.length;
  }

  /** Whether any column comes from the values of records. */
  boolean readsValues() {
    return readsValues;
  }

  /**
   * Adds the row of a record.
   *
   * @param value not used unless {@link #readsValues}
   * @throws BadRowException if the value is not a row of the schema, or has no form in Trino; the
   *     page must not be used any more
   */
  void add(byte[] key, byte[] value, int from, int length) throws BadRowException {
    @Nullable Object[] decoded = decoder == null ? null : decoder.decode(value, from, length);
    for (int i = 0; i < columns.length; i++) {
      BlockBuilder out = page.getBlockBuilder(i);
      Cell cell = cells[i];
      if (cell != null && decoded != null) {
        cell.write(decoded[places[i]], out);
      } else if (columns[i].origin() == Origin.KEY) {
        writeBytes(columns[i].type(), Slices.wrappedBuffer(key), "key", out);
      } else {
        writeBytes(columns[i].type(), Slices.wrappedBuffer(value, from, length), "value", out);
      }
    }
    page.declarePosition();
  }

  private static void writeBytes(Type type, Slice bytes, String what, BlockBuilder out)
      throws BadRowException {
    if (type instanceof VarcharType && !SliceUtf8.isAscii(bytes)) {
      try {
        ByteBuffer encoded =
            ByteBuffer.wrap(bytes.byteArray(), bytes.byteArrayOffset(), bytes.length());
        Object unused = StandardCharsets.UTF_8.newDecoder().decode(encoded);
      } catch (CharacterCodingException e) {
        throw new BadRowException(
            "the " + what + " is not UTF-8; set bsdb.table.NAME.text=false to read bytes");
      }
    }
    type.writeSlice(out, bytes);
  }

  /** Whether the page has its usual size. */
  boolean isFull() {
    return page.isFull();
  }

  /** The number of rows. */
  int count() {
    return page.getPositionCount();
  }

  /** The memory that the page takes. */
  long bytes() {
    return page.getRetainedSizeInBytes();
  }

  /** Returns the page, and begins another one. */
  Page take() {
    Page built = page.build();
    page.reset();
    return built;
  }
}

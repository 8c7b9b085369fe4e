package tech.bsdb.tools.parquet;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.crypto.ParquetCryptoRuntimeException;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.SparkSchema;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.table.PartitionValue;
import tech.bsdb.tools.table.TableOptions;

/**
 * A file as described by its footer, checked against the selection. Immutable, except for the
 * footer, which may be dropped and read again.
 */
final class ParquetFile {
  private static final ParquetReadOptions OPTIONS =
      ParquetReadOptions.builder(new PlainParquetConfiguration())
          .withCodecFactory(new Codecs())
          .usePageChecksumVerification(true)
          .build();

  private static final String SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata";

  /** The minimum size of a file: magic, footer length, magic. */
  private static final int MIN_LENGTH = 12;

  /** The longest footer that is read once more for what the library does not tell. */
  private static final int MAX_FOOTER = 1 << 24;

  /**
   * A non-empty row group.
   *
   * @param index its index in the file, from 0
   * @param firstRow the number of rows before it in the file
   * @param rows the number of its rows, at least one
   * @param bytes bytes of its selected columns in the file
   * @param plain bytes of its selected columns once decompressed
   */
  record RowGroup(int index, long firstRow, long rows, long bytes, long plain) {}

  private final SourceFile file;
  private final RowSelection selection;
  private final @Nullable String createdBy;
  private final LegacyCalendar calendar;
  private final List<RowGroup> rowGroups;
  private final int chunks;
  private final Set<RowGroup> ruledOut;
  private volatile @Nullable ParquetMetadata footer;

  private ParquetFile(
      SourceFile file,
      RowSelection selection,
      @Nullable String createdBy,
      LegacyCalendar calendar,
      List<RowGroup> rowGroups,
      int chunks,
      Set<RowGroup> ruledOut,
      ParquetMetadata footer) {
    this.file = file;
    this.selection = selection;
    this.createdBy = createdBy;
    this.calendar = calendar;
    this.rowGroups = List.copyOf(rowGroups);
    this.chunks = chunks;
    this.ruledOut = ruledOut;
    this.footer = footer;
  }

  /**
   * Reads a file's footer.
   *
   * @param partitions the values from the file's directories, by column
   * @throws InputException if it is not a Parquet file, is damaged, or lacks a selected column
   */
  static ParquetFile of(
      SourceFile file, TableOptions options, Map<String, PartitionValue> partitions)
      throws IOException {
    if (file.length() < 0) {
      throw new InputException(
          file.name() + ": its length is not known, and Parquet is read from its end");
    }
    if (file.length() < MIN_LENGTH) {
      throw new InputException(
          file.name() + ": not a Parquet file: it has " + file.length() + " bytes");
    }
    try (SeekableInputStream in = file.file().newStream()) {
      ParquetMetadata footer = ParquetFileReader.readFooter(file.file(), OPTIONS, in);
      Map<String, String> metadata = footer.getFileMetaData().getKeyValueMetaData();
      MessageType schema = withVariants(footer.getFileMetaData().getSchema(), metadata);
      RowSelection selection = RowSelection.of(options, file.name(), schema, partitions);
      LegacyCalendar calendar = LegacyCalendar.of(file.name(), metadata);
      List<RowGroup> rowGroups = rowGroups(file, footer, selection.projection());
      return new ParquetFile(
          file,
          selection,
          footer.getFileMetaData().getCreatedBy(),
          calendar,
          rowGroups,
          footer.getBlocks().size() * schema.getColumns().size(),
          ruledOut(file, in, footer, rowGroups, new RowGroupPruning(selection, calendar)),
          footer);
    } catch (IOException | RuntimeException | OutOfMemoryError e) { // from a damaged length
      String message = String.valueOf(e.getMessage());
      if (message.contains("is not a Parquet file") || message.contains("footer is too large")) {
        throw new InputException(
            file.name() + ": not a Parquet file, or a truncated one: it does not end with PAR1", e);
      }
      if (e instanceof IndexOutOfBoundsException && isWithoutColumns(file)) {
        throw new InputException(
            file.name() + ": is a Parquet file without columns, so there is nothing to read", e);
      }
      throw Damage.of(file.name(), "", e);
    }
  }

  /** Returns the row groups none of whose rows are wanted. */
  private static Set<RowGroup> ruledOut(
      SourceFile file,
      SeekableInputStream in,
      ParquetMetadata footer,
      List<RowGroup> rowGroups,
      RowGroupPruning pruning)
      throws IOException {
    if (pruning.isVoid()) {
      return Set.of();
    }
    try (ParquetFileReader reader = new ParquetFileReader(file.file(), footer, OPTIONS, in)) {
      Set<RowGroup> ruledOut = new HashSet<>(rowGroups);
      Set<Integer> kept = pruning.keep(footer.getBlocks(), reader);
      ruledOut.removeIf(rowGroup -> kept.contains(rowGroup.index()));
      return ruledOut;
    }
  }

  /**
   * Returns a file's schema with the logical type VARIANT where Spark's schema says so. Spark 4.0
   * writes such columns as plain structs of binary fields, and tells only in its own schema, in the
   * footer, what they are.
   *
   * @param metadata keys and values of the footer
   */
  private static MessageType withVariants(MessageType file, Map<String, String> metadata) {
    String schema = metadata.get(SPARK_SCHEMA);
    if (schema == null) {
      return file;
    }
    Set<String> columns = SparkSchema.columnsOf("variant", schema);
    return new MessageType(
        file.getName(),
        file.getFields().stream()
            .map(field -> columns.contains(field.getName()) ? withVariants(field) : field)
            .toList());
  }

  private static Type withVariants(Type type) {
    if (type.isPrimitive()) {
      return type;
    }
    GroupType group = type.asGroupType();
    List<Type> fields = group.getFields();
    boolean variant =
        group.containsField("metadata")
            && (group.containsField("value") || group.containsField("typed_value"));
    return variant
        ? Types.buildGroup(type.getRepetition())
            .as(LogicalTypeAnnotation.variantType((byte) 1))
            .addFields(fields.toArray(new Type[0]))
            .named(type.getName())
        : group.withNewFields(fields.stream().map(ParquetFile::withVariants).toList());
  }

  /** Whether the footer is valid but its schema is empty, which the library does not expect. */
  private static boolean isWithoutColumns(SourceFile file) {
    return schema(file).size() == 1;
  }

  /**
   * Returns the selected columns that have, or contain, a logical type that the library does not
   * know and therefore ignores.
   */
  List<String> columnsOfUnknownTypes() {
    Set<String> unknown = new LinkedHashSet<>();
    String column = "";
    int below = 0;
    for (SchemaElement element : schema(file).stream().skip(1).toList()) { // the first is the row
      column = below == 0 ? element.getName() : column;
      below += element.getNum_children() - (below == 0 ? 0 : 1);
      if (element.isSetLogicalType() && !element.getLogicalType().isSet()) {
        unknown.add(column);
      }
    }
    return unknown.stream().filter(selection.projection()::containsField).toList();
  }

  /** Returns the schema as the footer describes it; empty if the footer cannot be read. */
  private static List<SchemaElement> schema(SourceFile file) {
    try (SeekableInputStream in = file.file().newStream()) {
      byte[] length = new byte[Integer.BYTES];
      in.seek(file.length() - 2 * Integer.BYTES);
      in.readFully(length);
      int bytes = ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getInt();
      if (bytes < 0 || bytes > Math.min(MAX_FOOTER, file.length() - MIN_LENGTH)) {
        return List.of();
      }
      byte[] footer = new byte[bytes];
      in.seek(file.length() - 2 * Integer.BYTES - bytes);
      in.readFully(footer);
      return Util.readFileMetaData(new ByteArrayInputStream(footer), true).getSchema();
    } catch (IOException | RuntimeException damaged) {
      return List.of();
    }
  }

  private static List<RowGroup> rowGroups(
      SourceFile file, ParquetMetadata footer, MessageType projection) throws InputException {
    Set<ColumnPath> wanted = new HashSet<>();
    projection.getPaths().forEach(path -> wanted.add(ColumnPath.get(path)));
    List<RowGroup> rowGroups = new ArrayList<>();
    long rows = 0;
    for (int i = 0; i < footer.getBlocks().size(); i++) {
      BlockMetaData block = footer.getBlocks().get(i);
      long bytes = 0;
      long plain = 0;
      int found = 0;
      for (ColumnChunkMetaData chunk : block.getColumns()) {
        if (wanted.contains(chunk.getPath())) {
          checkWithin(file, i, chunk);
          bytes += chunk.getTotalSize();
          plain += chunk.getTotalUncompressedSize();
          found++;
        }
      }
      if (block.getRowCount() < 0 || (block.getRowCount() > 0 && found != wanted.size())) {
        throw new InputException(
            "%s: damaged: row group %s has %s rows and %s of the %s columns wanted"
                .formatted(file.name(), i, block.getRowCount(), found, wanted.size()));
      }
      if (block.getRowCount() > 0) {
        rowGroups.add(new RowGroup(i, rows, block.getRowCount(), bytes, plain));
        rows += block.getRowCount();
      }
    }
    return rowGroups;
  }

  private static void checkWithin(SourceFile file, int rowGroup, ColumnChunkMetaData chunk)
      throws InputException {
    long start = chunk.getStartingPos();
    long size = chunk.getTotalSize();
    if (start < 0 || size < 0 || start > file.length() - size) {
      throw new InputException(
          ("%s: damaged: column %s of row group %s is said to be at %s with %s bytes, but the file"
                  + " has %s")
              .formatted(
                  file.name(),
                  chunk.getPath().toDotString(),
                  rowGroup,
                  start,
                  size,
                  file.length()));
    }
  }

  String name() {
    return file.name();
  }

  /** Whether the file is unchanged since its footer was read, as far as can be detected. */
  boolean isUnchanged() {
    return file.isUnchanged();
  }

  /** Returns the error for a changed file. */
  InputException changed() {
    return new InputException(file.name() + ": was changed while it was read; build again");
  }

  RowSelection selection() {
    return selection;
  }

  @Nullable String createdBy() {
    return createdBy;
  }

  /** Returns the calendar of its dates and timestamps. */
  LegacyCalendar calendar() {
    return calendar;
  }

  List<RowGroup> rowGroups() {
    return rowGroups;
  }

  /** Whether none of the rows of a row group are wanted. */
  boolean isRuledOut(RowGroup rowGroup) {
    return ruledOut.contains(rowGroup);
  }

  /** Returns the number of column chunks in the footer, a measure of its memory. */
  int chunks() {
    return chunks;
  }

  /** Releases the footer's memory. */
  void forgetFooter() {
    footer = null;
  }

  /** Opens the file for reading its selected columns. */
  ParquetFileReader open() throws IOException {
    SeekableInputStream in = file.file().newStream();
    try {
      ParquetMetadata known = footer;
      if (known == null) {
        known = ParquetFileReader.readFooter(file.file(), OPTIONS, in);
        checkUnchanged(known);
      }
      ParquetFileReader reader = new ParquetFileReader(file.file(), known, OPTIONS, in);
      reader.setRequestedSchema(selection.projection());
      return reader;
    } catch (IOException | RuntimeException | Error e) {
      in.close();
      throw e;
    }
  }

  private void checkUnchanged(ParquetMetadata again) throws InputException {
    if (!rowGroups(file, again, selection.projection()).equals(rowGroups)) {
      throw changed();
    }
  }

  /**
   * Turns exceptions thrown while reading a file into messages for users: whether the file could
   * not be read, or is not valid Parquet. The Parquet library throws many kinds of exceptions on
   * invalid bytes.
   */
  static final class Damage {
    private Damage() {}

    /**
     * Returns the message for an exception.
     *
     * @param file the name shown to users
     * @param place the place in the file, ending in a colon and a space; or empty
     */
    static InputException of(String file, String place, Throwable thrown) {
      if (thrown instanceof InputException named) {
        return named;
      }
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (cause instanceof ParquetCryptoRuntimeException) {
          return new InputException(file + ": is encrypted, which is not supported", thrown);
        }
        if (isStructure(cause)) {
          return damaged(file, place, "its metadata or a page's header cannot be read", thrown);
        }
        if (cause instanceof EOFException) {
          return damaged(file, place, "it ends too early", thrown);
        }
      }
      if (thrown instanceof IOException
          && !String.valueOf(thrown.getMessage()).contains("damaged")) {
        return FileSources.explain(file, thrown);
      }
      return damaged(file, place, message(thrown), thrown);
    }

    private static boolean isStructure(Throwable cause) {
      String message = String.valueOf(cause.getMessage());
      return message.contains("can not read class") || message.contains("Required field");
    }

    /** Returns the deepest message meant for people, skipping Java's own about array indexes. */
    private static String message(Throwable thrown) {
      String words = "its content is invalid";
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        boolean ofJava =
            cause instanceof NullPointerException
                || cause instanceof IndexOutOfBoundsException
                || cause instanceof NegativeArraySizeException
                || cause instanceof ClassCastException
                || cause instanceof ArithmeticException;
        String message = cause.getMessage();
        if (!ofJava && message != null) {
          words = message.lines().findFirst().orElse(words);
        }
      }
      return words;
    }

    private static InputException damaged(
        String file, String place, String words, Throwable thrown) {
      String known = words.startsWith("damaged: ") ? "" : "damaged: ";
      return new InputException(file + ": " + place + known + words, thrown);
    }
  }
}

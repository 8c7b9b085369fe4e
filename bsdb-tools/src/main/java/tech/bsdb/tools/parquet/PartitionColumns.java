package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.ParquetOptions.Partitions;
import tech.bsdb.tools.parquet.RowType.Column;
import tech.bsdb.tools.parquet.RowType.Kind;
import tech.bsdb.tools.parquet.RowType.Scalar;
import tech.bsdb.tools.source.SourceFile;

/**
 * The columns that directories named {@code NAME=VALUE} make, as Hive and Spark write them: the
 * same ones for all files, in the order of the path. They may always be null. Immutable.
 */
final class PartitionColumns {
  private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
  private static final String OTHERWISE = " (--partitions ignore reads the files alone)";

  /** No columns, whatever the directories. */
  static final PartitionColumns NONE = new PartitionColumns(List.of(), Map.of());

  /**
   * A column and its value in a file.
   *
   * @param name the column's name
   * @param text the value as the directory has it, decoded; null for null
   */
  private record Part(String name, @Nullable String text) {}

  private final List<Column> columns;
  private final Map<List<String>, Map<String, PartitionValue>> values;

  private PartitionColumns(
      List<Column> columns, Map<List<String>, Map<String, PartitionValue>> values) {
    this.columns = columns;
    this.values = values;
  }

  /**
   * The columns of some files.
   *
   * @throws InputException if a directory can be none, or two files have other ones; the message
   *     names them
   */
  static PartitionColumns of(List<SourceFile> files, Partitions how) throws InputException {
    if (how == Partitions.IGNORE || files.isEmpty()) {
      return NONE;
    }
    Map<String, Part> parsed = new HashMap<>();
    Map<List<String>, List<Part>> byDirectories = new LinkedHashMap<>();
    List<String> names = null;
    for (SourceFile file : files) {
      if (!byDirectories.containsKey(file.partitions())) {
        List<Part> parts = parts(file, parsed);
        List<String> own = parts.stream().map(Part::name).toList();
        names = names == null ? own : names;
        if (!own.equals(names)) {
          throw new InputException(
              "the directories of "
                  + files.get(0).name()
                  + shown(names)
                  + ", those of "
                  + file.name()
                  + shown(own)
                  + "; all files of a table have the same"
                  + OTHERWISE);
        }
        byDirectories.put(file.partitions(), parts);
      }
    }
    return of(names == null ? List.of() : names, byDirectories, how);
  }

  private static PartitionColumns of(
      List<String> names, Map<List<String>, List<Part>> byDirectories, Partitions how) {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      List<@Nullable String> texts = new ArrayList<>();
      for (List<Part> parts : byDirectories.values()) {
        texts.add(parts.get(i).text());
      }
      Scalar type = how == Partitions.TEXT ? Scalar.of(Kind.STRING) : PartitionType.of(texts);
      columns.add(new Column(names.get(i), type, true));
    }
    Map<List<String>, Map<String, PartitionValue>> values = new HashMap<>();
    byDirectories.forEach(
        (directories, parts) -> {
          Map<String, PartitionValue> row = new LinkedHashMap<>();
          for (int i = 0; i < names.size(); i++) {
            row.put(names.get(i), PartitionValue.of(columns.get(i), parts.get(i).text()));
          }
          values.put(directories, row);
        });
    return new PartitionColumns(List.copyOf(columns), values);
  }

  private static String shown(List<String> names) {
    return names.isEmpty() ? " make no columns" : " make the columns " + String.join(", ", names);
  }

  /** The columns, in the order of the path. */
  List<Column> columns() {
    return columns;
  }

  /** What a file has in them, by name, in the order of the path. */
  Map<String, PartitionValue> of(SourceFile file) {
    return values.getOrDefault(file.partitions(), Map.of());
  }

  private static List<Part> parts(SourceFile file, Map<String, Part> parsed) throws InputException {
    List<Part> parts = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String directory : file.partitions()) {
      Part part = parsed.get(directory);
      if (part == null) {
        part = parse(directory, file.name());
        parsed.put(directory, part);
      }
      if (!names.add(part.name())) {
        throw new InputException(
            file.name() + ": two of its directories are named " + part.name() + "=" + OTHERWISE);
      }
      parts.add(part);
    }
    return parts;
  }

  private static Part parse(String directory, String file) throws InputException {
    int equals = directory.indexOf('=');
    String name = decoded(directory.substring(0, equals), directory, file);
    String text = decoded(directory.substring(equals + 1), directory, file);
    if (name.isEmpty() || text.isEmpty()) {
      throw new InputException(
          file
              + ": the directory "
              + directory
              + " is no partition: it has no "
              + (name.isEmpty() ? "name before" : "value behind")
              + " the ="
              + OTHERWISE);
    }
    return new Part(name, text.equals(NULL) ? null : text);
  }

  /** Takes {@code %HH} as a byte of UTF-8; a percent sign before anything else is one. */
  private static String decoded(String encoded, String directory, String file)
      throws InputException {
    if (encoded.indexOf('%') < 0) {
      return encoded;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int from = 0;
    int percent = encoded.indexOf('%');
    while (percent >= 0) {
      int high =
          percent + 3 <= encoded.length() ? Character.digit(encoded.charAt(percent + 1), 16) : -1;
      int low =
          percent + 3 <= encoded.length() ? Character.digit(encoded.charAt(percent + 2), 16) : -1;
      if (high >= 0 && low >= 0) {
        bytes.writeBytes(encoded.substring(from, percent).getBytes(UTF_8));
        bytes.write(high << 4 | low);
        from = percent + 3;
      }
      percent = encoded.indexOf('%', Math.max(from, percent + 1));
    }
    bytes.writeBytes(encoded.substring(from).getBytes(UTF_8));
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
    } catch (CharacterCodingException e) {
      throw new InputException(
          file + ": the directory " + directory + " is not UTF-8 once it is decoded" + OTHERWISE,
          e);
    }
  }
}

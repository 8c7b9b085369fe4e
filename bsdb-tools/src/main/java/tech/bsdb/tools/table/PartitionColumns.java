package tech.bsdb.tools.table;

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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.table.TableOptions.Partitions;

/**
 * The columns from directories named {@code NAME=VALUE}, as Hive and Spark write them: the same for
 * all files, in path order, and always nullable. Immutable.
 *
 * @param columns the columns, in path order
 * @param values their values by name, in path order, for each list of directories
 */
public record PartitionColumns(
    List<Column> columns, Map<List<String>, Map<String, PartitionValue>> values) {
  private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
  private static final String IGNORE_HINT = " (--partitions ignore reads the files alone)";

  /** No columns, whatever the directories are called. */
  public static final PartitionColumns NONE = new PartitionColumns(List.of(), Map.of());

  /**
   * A column and its value in a file.
   *
   * @param name the column's name
   * @param text the decoded value from the directory name; null for null
   */
  private record Part(String name, @Nullable String text) {}

  /**
   * Determines the columns of files.
   *
   * @param nameOf returns a file's name, for messages
   * @param directoriesOf returns the directories named {@code NAME=VALUE} on its path, from the top
   * @throws InputException if a directory is not a valid partition, or two files have different
   *     columns; the message names them
   */
  public static <F> PartitionColumns of(
      List<? extends F> files,
      Function<F, String> nameOf,
      Function<F, List<String>> directoriesOf,
      Partitions how)
      throws InputException {
    if (how == Partitions.IGNORE || files.isEmpty()) {
      return NONE;
    }
    Map<String, Part> parsed = new HashMap<>();
    Map<List<String>, List<Part>> byDirectories = new LinkedHashMap<>();
    List<String> names = null;
    for (F file : files) {
      List<String> directories = directoriesOf.apply(file);
      if (!byDirectories.containsKey(directories)) {
        List<Part> parts = parts(directories, nameOf.apply(file), parsed);
        List<String> own = parts.stream().map(Part::name).toList();
        names = names == null ? own : names;
        if (!own.equals(names)) {
          throw new InputException(
              "the directories of %s%s, those of %s%s; all files of a table must have the same%s"
                  .formatted(
                      nameOf.apply(files.get(0)),
                      shown(names),
                      nameOf.apply(file),
                      shown(own),
                      hint(names, own)));
        }
        byDirectories.put(directories, parts);
      }
    }
    return of(names == null ? List.of() : names, byDirectories, how);
  }

  /** Determines the columns of files. */
  public static PartitionColumns of(List<SourceFile> files, Partitions how) throws InputException {
    return of(files, SourceFile::name, SourceFile::partitions, how);
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

  /** Returns what to do about two lists of columns, of which one may begin with the other. */
  private static String hint(List<String> some, List<String> others) {
    List<String> fewer = some.size() < others.size() ? some : others;
    List<String> more = fewer == some ? others : some;
    if (!fewer.equals(more.subList(0, fewer.size()))) {
      return IGNORE_HINT;
    }
    return (" (--include '%1$s=*/' leaves out the files beside the directories %1$s=..., --exclude"
            + " '%1$s=*/' leaves out the directories, --partitions ignore reads the files alone)")
        .formatted(more.get(fewer.size()));
  }

  private static String shown(List<String> names) {
    return names.isEmpty() ? " make no columns" : " make the columns " + String.join(", ", names);
  }

  /** Returns the values of a file in such directories by column name, in path order. */
  public Map<String, PartitionValue> of(List<String> directories) {
    return values.getOrDefault(directories, Map.of());
  }

  private static List<Part> parts(List<String> directories, String file, Map<String, Part> parsed)
      throws InputException {
    List<Part> parts = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (String directory : directories) {
      Part part = parsed.get(directory);
      if (part == null) {
        part = parse(directory, file);
        parsed.put(directory, part);
      }
      if (!names.add(part.name())) {
        throw new InputException(
            file + ": two of its directories are named " + part.name() + "=" + IGNORE_HINT);
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
          "%s: the directory %s is not a partition: it has no %s the =%s"
              .formatted(
                  file, directory, name.isEmpty() ? "name before" : "value after", IGNORE_HINT));
    }
    return new Part(name, text.equals(NULL) ? null : text);
  }

  /** Decodes {@code %HH} as a byte of UTF-8; any other percent sign is literal. */
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
          file + ": the directory " + directory + " is not UTF-8 after decoding" + IGNORE_HINT, e);
    }
  }
}

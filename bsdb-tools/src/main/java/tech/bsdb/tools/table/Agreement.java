package tech.bsdb.tools.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.Where;

/**
 * What the files of an input agree on. Immutable.
 *
 * @param columns the columns to which the rows of all files resolve; empty if the value is raw
 * @param parts the types of the parts of the key, and then of the mark; empty for those of each
 *     file
 * @param notes what users should know about the input
 */
public record Agreement(List<Column> columns, List<Scalar> parts, List<String> notes) {
  /**
   * Finds out what files agree on.
   *
   * @param partitions the columns from their directories
   * @throws InputException if a file does not agree with the others; the message names the file and
   *     the column
   */
  public static Agreement of(
      TableOptions options, List<? extends FileColumns> files, PartitionColumns partitions)
      throws InputException {
    checkNames(options, files);
    checkCells(options.where(), files);
    boolean widen = options.types().widen();
    TypeMerge columns = new TypeMerge(widen);
    TypeMerge keys = new TypeMerge(widen);
    TypeMerge marks = new TypeMerge(true);
    for (FileColumns file : files) {
      columns.add(file.name(), file.columns());
      keys.add(file.name(), keyColumns(options, file));
      if (widen) {
        marks.add(file.name(), markColumn(options, file));
      }
    }
    List<String> notes = new ArrayList<>();
    List<Column> all = new ArrayList<>(widened(columns, options));
    List<Column> parts = new ArrayList<>();
    if (widen) {
      parts.addAll(widened(keys, options));
      parts.addAll(widened(marks, options));
    }
    for (Column partition : partitions.columns()) {
      if (files.isEmpty() || !isOwn(partition.name(), files, options, notes)) {
        all.add(partition);
      }
    }
    boolean raw = options.rawColumn() != null || options.keysOnly();
    List<Column> row = raw ? List.of() : selected(all, options, files);
    List<Scalar> types = parts.stream().map(part -> (Scalar) part.type()).toList();
    List<Column> stored = storedColumns(options.stored());
    for (FileColumns file : files) {
      checkKeys(options, file, types, stored);
    }
    return new Agreement(row, types, notes);
  }

  /**
   * Checks that names of columns which differ only in case tell the columns of all files apart.
   *
   * @throws InputException if a file has several columns of a name, and another one that in another
   *     case
   */
  private static void checkNames(TableOptions options, List<? extends FileColumns> files)
      throws InputException {
    for (String name : options.named()) {
      FileColumns several = null;
      FileColumns other = null;
      for (FileColumns file : files) {
        List<String> meant = file.meant(name);
        several = several == null && meant.size() > 1 ? file : several;
        other = other == null && !meant.isEmpty() && !meant.contains(name) ? file : other;
      }
      if (several != null && other != null) {
        throw new InputException(
            "%s: has columns %s, but %s has %s; which one is %s cannot be told (read them separately)"
                .formatted(
                    several.name(),
                    String.join(" and ", several.meant(name)),
                    other.name(),
                    String.join(" and ", other.meant(name)),
                    name));
      }
    }
  }

  /**
   * Checks that each column of the condition is in some file; in others it is null.
   *
   * @throws InputException if one is in no file
   */
  private static void checkCells(@Nullable Where where, List<? extends FileColumns> files)
      throws InputException {
    List<ColumnName> names = where == null || files.isEmpty() ? List.of() : where.columns();
    for (int i = 0; i < names.size(); i++) {
      int number = i;
      if (files.stream().noneMatch(file -> file.hasCell(number))) {
        throw new InputException(
            "%s: has no column %s for --where (%s)"
                .formatted(files.get(0).name(), names.get(i).text(), files.get(0).listed()));
      }
    }
  }

  /**
   * Checks that keys have the texts that they have in the database, as far as its schema tells.
   *
   * @param parts the types of the parts of the key; empty for those of the file
   * @param stored the columns of the database
   * @throws InputException if a part has another type, which may write the same value otherwise
   */
  private static void checkKeys(
      TableOptions options, FileColumns file, List<Scalar> parts, List<Column> stored)
      throws InputException {
    List<Scalar> types = file.keyTypes();
    for (int i = 0; i < types.size(); i++) {
      boolean partition = file.isFromDirectory(i); // is not widened
      Scalar own = types.get(i);
      Scalar type = partition || parts.isEmpty() ? own : parts.get(i);
      String name = options.keyColumns().get(i);
      Optional<Column> known = Widening.find(stored, name);
      if (known.isPresent()
          && known.get().type() instanceof Scalar there
          && Widening.textsDiffer(type, there)) {
        boolean helps = !partition && Widening.of(type, there).equals(Optional.of(there));
        throw new InputException(
            ("%s: key column %s is %s, but %s in the schema of the database, where the same key may"
                    + " have another text (%s %s)")
                .formatted(
                    file.name(),
                    name,
                    type.describe(),
                    there.describe(),
                    helps ? "--widen gives it that of" : "write the column as",
                    there.describe()));
      }
    }
  }

  /** Returns the columns of a database; none if it has no schema, or one that contains itself. */
  private static List<Column> storedColumns(@Nullable RowSchema stored) {
    try {
      return stored == null ? List.of() : stored.types();
    } catch (IllegalArgumentException containsItself) {
      return List.of();
    }
  }

  /** Returns the key columns, which are merged like those of the row. */
  private static List<Column> keyColumns(TableOptions options, FileColumns file) {
    List<Column> columns = new ArrayList<>();
    List<Scalar> types = file.keyTypes();
    for (int i = 0; i < types.size(); i++) {
      columns.add(new Column(options.keyColumns().get(i), types.get(i), false));
    }
    return columns;
  }

  /** Returns the column that marks deletions, if there is one. */
  private static List<Column> markColumn(TableOptions options, FileColumns file) {
    DeleteField field = options.deleteField();
    Scalar mark = file.markType();
    return field == null || mark == null
        ? List.of()
        : List.of(new Column(field.field(), mark, false));
  }

  /** Returns merged columns, with the types that they have in the database if they may. */
  private static List<Column> widened(TypeMerge merge, TableOptions options) throws InputException {
    RowSchema stored = options.types().widen() ? options.stored() : null;
    try {
      return stored == null ? merge.columns() : Widening.toward(merge.columns(), stored.types());
    } catch (IllegalArgumentException e) {
      throw new InputException("--widen: in the schema of the database, " + e.getMessage(), e);
    }
  }

  /**
   * Whether the files themselves have a partition's column, which takes precedence.
   *
   * @throws InputException if only some of them have it
   */
  private static boolean isOwn(
      String column, List<? extends FileColumns> files, TableOptions options, List<String> notes)
      throws InputException {
    FileColumns with = null;
    FileColumns without = null;
    for (FileColumns file : files) {
      boolean has = file.hasColumn(column);
      with = has && with == null ? file : with;
      without = !has && without == null ? file : without;
    }
    if (with == null) {
      return false;
    }
    if (without != null && options.wants(column)) {
      throw new InputException(
          ("%s has a column %s of its own, %s has it only from its directory; read them separately,"
                  + " or with --partitions ignore")
              .formatted(with.name(), column, without.name()));
    }
    if (options.wants(column)) {
      notes.add(
          ("the files have a column %s of their own, which is used instead of the one from their"
                  + " directories (%s=...)")
              .formatted(column, column));
    }
    return true;
  }

  /** Returns all columns, or the requested ones, each of which must be in some file. */
  private static List<Column> selected(
      List<Column> columns, TableOptions options, List<? extends FileColumns> files)
      throws InputException {
    if (options.valueColumns().isEmpty()) {
      return columns;
    }
    List<Column> ordered = new ArrayList<>();
    for (String name : options.valueColumns()) {
      Column found = null;
      for (Column column : columns) {
        found = column.name().equals(name) ? column : found;
      }
      for (Column column : found == null ? columns : List.<Column>of()) {
        found = AnyCase.of(column.name()).equals(AnyCase.of(name)) ? column : found;
      }
      if (found == null) {
        throw new InputException(
            "%s: has no column %s for the value (%s)"
                .formatted(files.get(0).name(), name, files.get(0).listed()));
      }
      int before = ordered.indexOf(found);
      if (before >= 0) {
        throw new InputException(
            "--value-fields names %s twice: %s, %s"
                .formatted(found.name(), options.valueColumns().get(before), name));
      }
      ordered.add(found);
    }
    return ordered;
  }

  /** Returns this agreement with more notes, before its own. */
  public Agreement withNotes(List<String> more) {
    List<String> all = new ArrayList<>(more);
    all.addAll(notes);
    return new Agreement(columns, parts, all);
  }
}

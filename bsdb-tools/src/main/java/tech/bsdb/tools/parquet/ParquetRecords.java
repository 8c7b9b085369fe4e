package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.Agreement;
import tech.bsdb.tools.table.FileOrigin;
import tech.bsdb.tools.table.PartitionColumns;
import tech.bsdb.tools.table.PartitionPruning;
import tech.bsdb.tools.table.RowPipeline.Task;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableRecords;

/**
 * Opens Parquet files, whose rows come in the order of the input: by path below a directory, by row
 * within a file.
 *
 * <p>All footers are read first, so that the schema is known and mismatches are found before
 * anything is written. Then the selected columns of the row groups are read, several groups at a
 * time.
 */
public final class ParquetRecords {
  /** Number of column chunks whose footers are kept instead of read again: about 50 MB. */
  private static final int MAX_KEPT_CHUNKS = 100_000;

  private ParquetRecords() {}

  /**
   * Finds the files and reads their footers.
   *
   * @param sources the source of the files; closed with the records, or immediately if opening
   *     fails
   * @throws InputException if a file is missing, cannot be read, is not a Parquet file, or does not
   *     agree with the others; the message names the file and the column
   */
  public static TableRecords open(TableOptions options, FileSources sources) throws IOException {
    FileOrigin all = FileOrigin.open(options, sources);
    try {
      PartitionColumns partitions = PartitionColumns.of(all.found(), options.partitions());
      Optional<PartitionPruning> pruning = PartitionPruning.of(options.where(), partitions);
      FileOrigin origin =
          pruning.isPresent()
              ? all.keeping(
                  pruning.get().keep(all.found(), file -> partitions.of(file.partitions())))
              : all;
      List<ParquetFile> files = opened(options, origin, partitions);
      if (pruning.isPresent() && pruning.get().isVoid(selections(files))) {
        origin = all;
        files = opened(options, all, partitions);
      }
      keepSomeFooters(files);
      Agreement agreement = Agreement.of(options, selections(files), partitions);
      if (!files.isEmpty()) {
        agreement = agreement.withNotes(unknownTypes(files.get(0)));
      }
      Agreement agreed = agreement;
      return TableRecords.of(
          options,
          origin,
          agreed,
          tasks(files),
          converter -> new RowReader(options, agreed, converter));
    } catch (IOException | RuntimeException | Error e) {
      all.closeAfterFailure();
      throw e;
    }
  }

  private static List<ParquetFile> opened(
      TableOptions options, FileOrigin origin, PartitionColumns partitions) throws IOException {
    return origin.each(
        options.threads(), file -> ParquetFile.of(file, options, partitions.of(file.partitions())));
  }

  private static List<RowSelection> selections(List<ParquetFile> files) {
    return files.stream().map(ParquetFile::selection).toList();
  }

  /** Notes columns of unknown types, as far as one file tells, so that no other is read twice. */
  private static List<String> unknownTypes(ParquetFile file) {
    List<String> notes = new ArrayList<>();
    for (String column : file.columnsOfUnknownTypes()) {
      notes.add(
          ("%s: column %s has, or contains, a logical type that this version of bsdb does not know;"
                  + " its values are passed on as they are stored")
              .formatted(file.name(), column));
    }
    return notes;
  }

  private static void keepSomeFooters(List<ParquetFile> files) {
    long chunks = 0;
    for (ParquetFile file : files) {
      chunks += file.chunks();
      if (chunks > MAX_KEPT_CHUNKS) {
        file.forgetFooter();
      }
    }
  }

  private static List<Task<RowReader.Part>> tasks(List<ParquetFile> files) {
    List<Task<RowReader.Part>> tasks = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      for (RowGroup group : files.get(i).rowGroups()) {
        boolean ruledOut = files.get(i).isRuledOut(group);
        tasks.add(
            new Task<>(
                tasks.size(),
                i,
                new RowReader.Part(files.get(i), group),
                ruledOut ? 0 : group.bytes(),
                ruledOut));
      }
    }
    return tasks;
  }
}

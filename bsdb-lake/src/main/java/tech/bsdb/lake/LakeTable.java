package tech.bsdb.lake;

import java.util.ArrayList;
import java.util.List;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableFile;

/**
 * Snapshots of tables, one after another. Nothing is open between the reads of their files.
 *
 * @param files their files
 * @param notes which snapshots they are
 */
public record LakeTable(List<TableFile> files, List<String> notes) implements Table {
  /** Returns several tables as one. */
  public static LakeTable of(List<LakeTable> tables) {
    List<TableFile> files = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (LakeTable table : tables) {
      files.addAll(table.files);
      notes.addAll(table.notes);
    }
    return new LakeTable(List.copyOf(files), List.copyOf(notes));
  }

  @Override
  public void close() {}
}

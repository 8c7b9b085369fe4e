package tech.bsdb.tools.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.source.SourceFile;

/** A file of a format. The constructor of its class fills the collections. */
public abstract class FormatFile implements TableFile {
  /** The file. */
  protected final SourceFile file;

  /** The columns that can be read. */
  protected final List<Column> columns = new ArrayList<>();

  /** The other columns, and what they are. */
  protected final Map<String, String> unreadable = new LinkedHashMap<>();

  /** The parts. */
  protected final List<Part> parts = new ArrayList<>();

  /** Creates one without columns and parts. */
  protected FormatFile(SourceFile file) {
    this.file = file;
  }

  @Override
  public final String name() {
    return file.name();
  }

  @Override
  public final List<Column> columns() {
    return columns;
  }

  @Override
  public final Map<String, String> unreadable() {
    return unreadable;
  }

  @Override
  public final List<String> directories() {
    return file.partitions();
  }

  @Override
  public final List<Part> parts() {
    return parts;
  }

  @Override
  public final boolean isUnchanged() {
    return file.isUnchanged();
  }
}

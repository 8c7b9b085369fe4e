package tech.bsdb.lake.arrow;

import java.io.IOException;
import tech.bsdb.tools.table.FileTable;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/** Opens files and streams of Arrow's IPC format. */
public final class ArrowSource implements TableSource {
  /** For the service loader. */
  public ArrowSource() {}

  @Override
  public String format() {
    return "arrow";
  }

  @Override
  public Table open(TableRequest request) throws IOException {
    return FileTable.open(request, ArrowFile::of);
  }
}

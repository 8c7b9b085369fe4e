package tech.bsdb.lake.orc;

import java.io.IOException;
import tech.bsdb.tools.table.FileTable;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableOptions.Int96Unit;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/** Opens ORC files. */
public final class OrcSource implements TableSource {
  /** For the service loader. */
  public OrcSource() {}

  @Override
  public String format() {
    return "orc";
  }

  @Override
  public Table open(TableRequest request) throws IOException {
    boolean nanos = request.options().types().int96() == Int96Unit.NANOS;
    return FileTable.open(request, file -> OrcTable.of(file, nanos));
  }
}

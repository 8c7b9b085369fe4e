package tech.bsdb.tools.avro;

import java.io.IOException;
import tech.bsdb.tools.table.FileTable;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/** Opens Avro's object container files. */
public final class AvroSource implements TableSource {
  /** For the service loader. */
  public AvroSource() {}

  @Override
  public String format() {
    return "avro";
  }

  @Override
  public Table open(TableRequest request) throws IOException {
    return FileTable.open(request, AvroFile::of);
  }
}

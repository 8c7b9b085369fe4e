package tech.bsdb.lake.iceberg;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.AsOf;
import tech.bsdb.lake.LakeSource;
import tech.bsdb.lake.LakeTable;
import tech.bsdb.tools.source.HadoopPlace;
import tech.bsdb.tools.where.Where;

/** Opens tables of Iceberg. */
public final class IcebergSource extends LakeSource {
  /** For the service loader. */
  public IcebergSource() {
    super("iceberg");
  }

  @Override
  protected LakeTable open(HadoopPlace place, @Nullable AsOf asOf, @Nullable Where where)
      throws IOException {
    return new IcebergSnapshot(place, asOf, where).table();
  }
}

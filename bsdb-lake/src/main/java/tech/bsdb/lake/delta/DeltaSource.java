package tech.bsdb.lake.delta;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.AsOf;
import tech.bsdb.lake.LakeSource;
import tech.bsdb.lake.LakeTable;
import tech.bsdb.tools.source.HadoopPlace;
import tech.bsdb.tools.where.Where;

/** Opens tables of Delta Lake. */
public final class DeltaSource extends LakeSource {
  /** For the service loader. */
  public DeltaSource() {
    super("delta");
  }

  @Override
  protected LakeTable open(HadoopPlace place, @Nullable AsOf asOf, @Nullable Where where)
      throws IOException {
    return new DeltaSnapshot(place, asOf).table(where);
  }
}

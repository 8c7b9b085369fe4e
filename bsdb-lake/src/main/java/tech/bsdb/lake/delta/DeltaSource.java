package tech.bsdb.lake.delta;

import java.io.IOException;
import tech.bsdb.lake.LakeSource;
import tech.bsdb.lake.LakeTable;
import tech.bsdb.lake.AsOf;
import tech.bsdb.tools.source.HadoopPlace;
import org.jspecify.annotations.Nullable;

/** Opens tables of Delta Lake. */
public final class DeltaSource extends LakeSource {
  /** For the service loader. */
  public DeltaSource() {
    super("delta");
  }

  @Override
  protected LakeTable open(HadoopPlace place, @Nullable AsOf asOf) throws IOException {
    return new DeltaSnapshot(place, asOf).table();
  }
}

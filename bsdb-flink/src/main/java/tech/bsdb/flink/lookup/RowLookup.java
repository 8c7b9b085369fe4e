package tech.bsdb.flink.lookup;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.LookupFunction;
import org.jspecify.annotations.Nullable;
import tech.bsdb.flink.lookup.LookupTable.LookupPlan;

/** Looks up one row at a time, on the thread of the task. */
public final class RowLookup extends LookupFunction {
  private static final long serialVersionUID = 1L;

  private final LookupPlan plan;
  private transient @Nullable TableReader reader;

  RowLookup(LookupPlan plan) {
    this.plan = plan;
  }

  @Override
  public void open(FunctionContext context) throws IOException {
    reader = new TableReader(plan, context.getMetricGroup());
  }

  @Override
  public Collection<RowData> lookup(RowData asked) throws IOException {
    TableReader opened = reader;
    if (opened == null) {
      throw new IllegalStateException("not open");
    }
    byte[] key = opened.key(asked);
    return key == null ? List.of() : opened.found(asked, key, opened.get(key));
  }

  @Override
  public void close() {
    TableReader opened = reader;
    reader = null;
    if (opened != null) {
      opened.close();
    }
  }
}

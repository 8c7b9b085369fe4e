package tech.bsdb.lake;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.HadoopPlace;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;
import tech.bsdb.tools.where.Where;

/** Opens the tables of a lake, each of which an input names. */
public abstract class LakeSource implements TableSource {
  private final String format;

  /** Creates a source of a format. */
  protected LakeSource(String format) {
    this.format = format;
  }

  @Override
  public final String format() {
    return format;
  }

  @Override
  public final Table open(TableRequest request) throws IOException {
    List<String> inputs = request.options().inputs();
    AsOf asOf = request.asOf() == null ? null : new AsOf(request.asOf());
    if (asOf != null && inputs.size() > 1) {
      throw new InputException(
          asOf + ": there are several tables (-i), each of which has versions of its own");
    }
    List<LakeTable> tables = new ArrayList<>();
    for (String input : inputs) {
      tables.add(open(HadoopPlace.of(input, request.sources()), asOf, request.options().where()));
    }
    return LakeTable.of(tables);
  }

  /**
   * Opens a snapshot of a table.
   *
   * @param asOf which one; null for the current one
   * @param where which rows are wanted, so that files without any may be left out; null for all
   * @throws InputException if there is none, or it cannot be read; the message names the table
   */
  protected abstract LakeTable open(HadoopPlace place, @Nullable AsOf asOf, @Nullable Where where)
      throws IOException;
}

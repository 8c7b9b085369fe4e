package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Lines of one key each, which is to be deleted. */
final class WholeLines implements LineFields {
  private final Admission admission;
  private final boolean takesEmptyLines;

  WholeLines(InputOptions options) {
    this.admission = new Admission(options);
    this.takesEmptyLines = options.allowEmptyKey();
  }

  @Override
  public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException {
    return admission.admitDeletion(bytes, from, to - from, records);
  }

  @Override
  public boolean takesEmptyLines() {
    return takesEmptyLines;
  }
}

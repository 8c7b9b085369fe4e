package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a key, a separator and a value: the text before and after the first separator,
 * untrimmed.
 */
final class SeparatedFields implements LineFields {
  private final byte[] separator;
  private final Admission admission;

  SeparatedFields(byte[] separator, Admission admission) {
    this.separator = separator;
    this.admission = admission;
  }

  @Override
  public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException {
    int at = ByteSearch.indexOf(bytes, from, to, separator);
    if (at < 0) {
      return Defect.NO_SEPARATOR;
    }
    int valueFrom = at + separator.length;
    return admission.admit(bytes, from, at - from, bytes, valueFrom, to - valueFrom, records);
  }
}

package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Lines of one JSON object each: the key is the text of one of its fields, the value is the whole
 * line.
 */
final class JsonFields implements LineFields {
  private final JsonMembers members;
  private final Admission admission;

  JsonFields(String keyField, InputOptions options) {
    this.members = new JsonMembers(keyField, options.deleteField());
    this.admission = new Admission(options);
  }

  @Override
  public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException {
    Defect defect = members.read(bytes, from, to);
    if (defect != null) {
      return defect;
    }
    byte[] key = members.key();
    return members.deletes()
        ? admission.admitDeletion(key, 0, key.length, records)
        : admission.admit(key, 0, key.length, bytes, from, to - from, records);
  }
}

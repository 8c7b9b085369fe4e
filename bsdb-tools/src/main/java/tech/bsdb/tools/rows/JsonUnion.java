package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.Schema;

/**
 * A union. A row holds the index of a branch and its value. A value belongs to the first branch
 * that accepts it in the form a database returns, else to the first that accepts it at all, such as
 * a number in a string.
 */
final class JsonUnion extends JsonType {
  private static final int NONE = -1;

  private final JsonType[] branches;
  private final int nullBranch;

  /** The only branch besides null, or NONE. */
  private final int onlyBranch;

  private JsonUnion(JsonType[] branches, int nullBranch) {
    this.branches = branches;
    this.nullBranch = nullBranch;
    this.onlyBranch =
        branches.length == 1 && nullBranch == NONE
            ? 0
            : branches.length == 2 && nullBranch != NONE ? 1 - nullBranch : NONE;
  }

  static JsonUnion ofUnion(Schema schema, Map<Schema, JsonRecord> records) {
    if (schema.getTypes().isEmpty()) {
      throw new IllegalArgumentException("a union without branches takes no value");
    }
    JsonType[] branches =
        schema.getTypes().stream().map(type -> JsonType.of(type, records)).toArray(JsonType[]::new);
    return new JsonUnion(branches, AbsentField.nullBranch(schema));
  }

  @Override
  boolean accepts(JsonToken token) {
    return Stream.of(branches).anyMatch(branch -> branch.accepts(token));
  }

  @Override
  void put(JsonToken token, JsonLine line) throws IOException, BadFieldException {
    if (token == JsonToken.VALUE_NULL && nullBranch != NONE) {
      line.out.putLong(nullBranch);
    } else if (onlyBranch != NONE) {
      line.out.putLong(onlyBranch);
      branches[onlyBranch].put(token, line);
    } else if (token.isScalarValue()) {
      putScalar(token, line);
    } else {
      putStructure(token, line);
    }
  }

  private void putScalar(JsonToken token, JsonLine line) throws IOException, BadFieldException {
    if (!putScalar(token, line, true) && !putScalar(token, line, false)) {
      throw misfit(token, line);
    }
  }

  private boolean putScalar(JsonToken token, JsonLine line, boolean exactly) throws IOException {
    int mark = line.out.length();
    for (int i = 0; i < branches.length; i++) {
      if (branches[i] instanceof JsonScalar scalar
          && scalar.accepts(token, exactly)
          && (exactly || !scalar.accepts(token, true))) {
        line.out.putLong(i);
        if (scalar.tryPut(token, line) == null) {
          return true;
        }
        line.out.truncate(mark);
      }
    }
    return false;
  }

  private void putStructure(JsonToken token, JsonLine line) throws IOException, BadFieldException {
    int candidate = NONE;
    int candidates = 0;
    for (int i = 0; i < branches.length; i++) {
      if (branches[i].accepts(token)) {
        candidate = i;
        candidates++;
      }
    }
    if (candidates == 1) {
      line.out.putLong(candidate);
      branches[candidate].put(token, line);
      return;
    }
    // A branch that has all of the fields is preferred to one that ignores some.
    if (!tryAll(token, line, false) && !(line.ignoresExtraFields() && tryAll(token, line, true))) {
      throw misfit(token, line);
    }
  }

  private boolean tryAll(JsonToken token, JsonLine line, boolean ignore)
      throws IOException, BadFieldException {
    for (int i = 0; i < branches.length; i++) {
      if (branches[i].accepts(token) && line.tryAs(branches[i], i, ignore)) {
        return true;
      }
    }
    return false;
  }

  @Override
  String name() {
    return Stream.of(branches).map(JsonType::name).collect(Collectors.joining(", nor "));
  }
}

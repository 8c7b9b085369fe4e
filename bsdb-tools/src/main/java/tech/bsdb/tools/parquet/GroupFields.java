package tech.bsdb.tools.parquet;

import java.util.List;
import java.util.Optional;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.Type;
import tech.bsdb.tools.table.AnyCase;

/** The fields of a group by names, which may differ in case. */
final class GroupFields {
  private GroupFields() {}

  /** Returns the names of a group's fields that differ from a name at most in case. */
  static List<String> variants(GroupType group, String name) {
    return AnyCase.variants(group.getFields(), Type::getName, name).stream()
        .map(Type::getName)
        .toList();
  }

  /** Finds a field by its name, or else the only one whose name differs in case. */
  static Optional<Type> field(GroupType group, String name) {
    return group.containsField(name)
        ? Optional.of(group.getType(name))
        : AnyCase.field(group.getFields(), Type::getName, name);
  }
}

package tech.bsdb.tools.parquet;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.Type;

/** Names of columns and fields, which may differ in case from file to file. */
final class AnyCase {
  private AnyCase() {}

  /** Returns what names that differ only in case have in common. */
  static String of(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  /** Returns the names of a group's fields that differ from a name at most in case. */
  static List<String> variants(GroupType group, String name) {
    return group.getFields().stream()
        .map(Type::getName)
        .filter(field -> of(field).equals(of(name)))
        .toList();
  }

  /** Finds a field by its name, or else the only one whose name differs in case. */
  static Optional<Type> field(GroupType group, String name) {
    if (group.containsField(name)) {
      return Optional.of(group.getType(name));
    }
    List<String> variants = variants(group, name);
    return variants.size() == 1 ? Optional.of(group.getType(variants.get(0))) : Optional.empty();
  }
}

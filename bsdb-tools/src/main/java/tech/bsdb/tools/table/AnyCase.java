package tech.bsdb.tools.table;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Names of columns and fields, which may differ in case from file to file. */
public final class AnyCase {
  private AnyCase() {}

  /** Returns what names that differ only in case have in common. */
  public static String of(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  /** Returns the fields whose names differ from a name at most in case. */
  public static <F> List<F> variants(List<F> fields, Function<F, String> nameOf, String name) {
    return fields.stream().filter(field -> of(nameOf.apply(field)).equals(of(name))).toList();
  }

  /** Finds a field by its name, or else the only one whose name differs in case. */
  public static <F> Optional<F> field(List<F> fields, Function<F, String> nameOf, String name) {
    List<F> variants = variants(fields, nameOf, name);
    Optional<F> exact =
        variants.stream().filter(field -> nameOf.apply(field).equals(name)).findFirst();
    return exact.isPresent() || variants.size() != 1 ? exact : Optional.of(variants.get(0));
  }

  /**
   * Returns the names of the fields that may be meant by a name; those of the first part of a
   * dotted path that has no or several ones.
   *
   * @param below returns the fields of a field, or null if it is not a struct
   */
  public static <F> List<String> meant(
      List<F> fields,
      Function<F, String> nameOf,
      Function<F, @Nullable List<F>> below,
      String name) {
    List<F> whole = variants(fields, nameOf, name);
    if (!whole.isEmpty() || !name.contains(".")) {
      return whole.stream().map(nameOf).toList();
    }
    String above = "";
    List<F> group = fields;
    for (String part : name.split("\\.", -1)) {
      List<F> variants = variants(group, nameOf, part);
      if (variants.size() != 1) {
        String prefix = above;
        return variants.stream().map(variant -> prefix + nameOf.apply(variant)).toList();
      }
      above += nameOf.apply(variants.get(0));
      group = below.apply(variants.get(0));
      if (group == null) {
        break;
      }
      above += ".";
    }
    return List.of(above);
  }
}

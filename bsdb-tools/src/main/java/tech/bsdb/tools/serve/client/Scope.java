package tech.bsdb.tools.serve.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a client may do, and in which data sets. It is decided when the client shows its token or
 * certificate. Immutable.
 *
 * @param name who the client is, for logs; empty if that is not known
 * @param sets the names of data sets whose keys it may read; with an asterisk at the end, those
 *     that begin so
 * @param permissions what it may do
 */
public record Scope(String name, List<String> sets, Set<Permission> permissions) {
  /** Something that a client may do. */
  public enum Permission {
    /** Read the values of keys that it knows. */
    GET,
    /** Read ranges, count keys, and scan them. */
    SCAN,
    /** Read all keys by {@code KEYS}. */
    KEYS,
    /** Read the figures of the server, which name all data sets. */
    METRICS;

    /** Returns the word for it in files. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final List<String> ALL_SETS = List.of("*");
  private static final Set<Permission> FIGURES = EnumSet.of(Permission.METRICS);

  /** Everything. */
  public static final Scope ALL = new Scope("", ALL_SETS, EnumSet.allOf(Permission.class));

  /** Nothing. */
  public static final Scope NONE = new Scope("", List.of(), EnumSet.noneOf(Permission.class));

  /** Checks nothing, but keeps what it is given from changing. */
  public Scope {
    permissions = Collections.unmodifiableSet(permissions);
  }

  /**
   * Reads the settings of a line of a token file.
   *
   * @param settings {@code name}, {@code sets} and {@code allow}; what is missing is not limited,
   *     except that the figures are only for clients that may read all data sets
   * @throws IllegalArgumentException if a value is malformed, saying what is right
   */
  static Scope of(Map<String, String> settings) {
    String name = settings.getOrDefault("name", "");
    if (!name.matches("[A-Za-z0-9._@-]{0,64}")) {
      throw new IllegalArgumentException("name= takes up to 64 letters, digits and . _ @ -");
    }
    List<String> sets = ALL_SETS;
    if (settings.containsKey("sets")) {
      sets = List.of(settings.getOrDefault("sets", "").split(",", -1));
      if (!sets.stream().allMatch(each -> each.matches("[A-Za-z0-9._-]+\\*?|\\*"))) {
        throw new IllegalArgumentException(
            "sets= takes names of data sets separated by commas, which may end in *, such as"
                + " sets=users,items-*");
      }
    }
    return new Scope(name, sets, permissions(settings.get("allow"), sets.contains("*")));
  }

  private static Set<Permission> permissions(@Nullable String words, boolean allSets) {
    if (words == null) {
      return allSets ? ALL.permissions : EnumSet.complementOf(EnumSet.of(Permission.METRICS));
    }
    List<String> wanted = new ArrayList<>(List.of(words.split(",", -1)));
    Set<Permission> allowed = EnumSet.noneOf(Permission.class);
    for (Permission each : Permission.values()) {
      if (wanted.removeIf(each.word()::equals)) {
        allowed.add(each);
      }
    }
    if (!wanted.isEmpty()) {
      throw new IllegalArgumentException(
          "allow= takes words separated by commas: "
              + Arrays.stream(Permission.values())
                  .map(Permission::word)
                  .collect(Collectors.joining(", ")));
    }
    return allowed;
  }

  /** Whether the client may read some data sets only. */
  boolean isLimited() {
    return !sets.contains("*");
  }

  /** Whether the client may read keys of a data set, whether or not there is one of this name. */
  public boolean reaches(String set) {
    for (String each : sets) {
      int stem = each.length() - 1;
      if (each.equals(set) || (each.charAt(stem) == '*' && set.regionMatches(0, each, 0, stem))) {
        return true;
      }
    }
    return false;
  }

  /** Returns what the client may do while it has selected a data set. */
  public Set<Permission> in(String set) {
    if (reaches(set)) {
      return permissions;
    }
    return permissions.contains(Permission.METRICS) ? FIGURES : NONE.permissions;
  }
}

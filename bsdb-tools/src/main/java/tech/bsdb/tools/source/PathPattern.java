package tech.bsdb.tools.source;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A glob pattern for paths below a directory: {@code *} and {@code ?} match characters of one name,
 * {@code **} any characters, {@code [a-z]} and {@code [!a-z]} one of a set, {@code {a,b}} either; a
 * backslash quotes the next character. A pattern with a slash matches whole paths; one without
 * matches names at any depth. A pattern that ends with a slash matches only directories. Patterns
 * work the same on every file system and in every locale. Immutable.
 */
record PathPattern(boolean wholePath, boolean directoriesOnly, Pattern regex) {
  /**
   * Parses a pattern.
   *
   * @throws IllegalArgumentException if it is not a pattern; the message says why
   */
  static PathPattern of(String glob) {
    boolean directoriesOnly = glob.endsWith("/");
    String path = directoriesOnly ? glob.substring(0, glob.length() - 1) : glob;
    boolean wholePath = path.contains("/");
    path = path.startsWith("/") ? path.substring(1) : path;
    if (path.isEmpty()) {
      throw new IllegalArgumentException("the pattern is empty");
    }
    return new PathPattern(wholePath, directoriesOnly, new Translation(path).regex());
  }

  /**
   * Whether a path matches.
   *
   * @param path the path below the directory, with slashes between names
   */
  boolean matches(String path, boolean directory) {
    return (directory || !directoriesOnly)
        && regex.matcher(wholePath ? path : path.substring(path.lastIndexOf('/') + 1)).matches();
  }

  /** Translates a glob to a regular expression. */
  private static final class Translation {
    private final String glob;
    private final StringBuilder regex = new StringBuilder();
    private int at;
    private boolean inGroup;

    Translation(String glob) {
      this.glob = glob;
    }

    Pattern regex() {
      while (at < glob.length()) {
        next(glob.charAt(at++));
      }
      if (inGroup) {
        throw new IllegalArgumentException("a { has no }");
      }
      try {
        return Pattern.compile(regex.toString(), Pattern.DOTALL);
      } catch (PatternSyntaxException e) {
        throw new IllegalArgumentException(e.getDescription(), e);
      }
    }

    private void next(char c) {
      switch (c) {
        case '*' -> star();
        case '?' -> regex.append("[^/]");
        case '[' -> set();
        case '{' -> {
          if (inGroup) {
            throw new IllegalArgumentException("a { inside another");
          }
          inGroup = true;
          regex.append("(?:");
        }
        case '}' -> regex.append(inGroup ? ")" : "\\}");
        case ',' -> regex.append(inGroup ? "|" : ",");
        case '\\' -> {
          if (at == glob.length()) {
            throw new IllegalArgumentException("nothing follows the last \\");
          }
          literal(glob.charAt(at++));
        }
        default -> literal(c);
      }
      inGroup = inGroup && c != '}';
    }

    private void star() {
      boolean anyDepth = at < glob.length() && glob.charAt(at) == '*';
      at += anyDepth ? 1 : 0;
      if (anyDepth && at < glob.length() && glob.charAt(at) == '/') {
        at++;
        regex.append("(?:.*/)?"); // **/x is also x itself
      } else {
        regex.append(anyDepth ? ".*" : "[^/]*");
      }
    }

    private void set() {
      int end = glob.indexOf(']', at + 1);
      if (end < 0) {
        throw new IllegalArgumentException("a [ has no ]");
      }
      String members = glob.substring(at, end);
      at = end + 1;
      boolean not = members.startsWith("!") || members.startsWith("^");
      String listed = not ? members.substring(1) : members;
      regex
          .append("(?!/)[")
          .append(not ? "^" : "")
          .append(listed.replaceAll("[\\[\\]\\\\&^]", "\\\\$0"))
          .append("]");
    }

    private void literal(char c) {
      boolean special = c < 128 && !Character.isLetterOrDigit(c);
      regex.append(special ? "\\" : "").append(c);
    }
  }
}

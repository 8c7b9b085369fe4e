package tech.bsdb.tools.where;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.where.Condition.Comparator;

/** Reads a condition: a parser by recursive descent, one method for each rule. */
final class ConditionParser {
  private static final int MAX_DEPTH = 200;
  private static final int MAX_DIGITS = 1000;

  private static final Set<String> RESERVED =
      Set.of("AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ESCAPE", "BETWEEN", "TRUE", "FALSE");

  private static final Pattern TOKEN =
      Pattern.compile(
          """
          (?<bytes>[xX]'[^']*')\
          |(?<text>'(?:[^']|'')*')\
          |(?<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)\
          |(?<number>(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\
          |(?<word>[\\p{L}_][\\p{L}\\p{M}\\p{N}_$]*)\
          |(?<symbol><>|!=|<=|>=|==|[=<>(),.+-])""");

  private static final Pattern TIMESTAMP =
      Pattern.compile(
          "([^ T]+)(?:[ T]([0-9:.]+) ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?)?",
          Pattern.CASE_INSENSITIVE);

  private enum Kind {
    BYTES,
    TEXT,
    QUOTED,
    NUMBER,
    WORD,
    SYMBOL,
    END
  }

  /**
   * A token.
   *
   * @param text without quotes, if it had them
   * @param end where it ends
   */
  private record Token(Kind kind, String text, int position, int end) {
    boolean is(String word) {
      return (kind == Kind.WORD || kind == Kind.SYMBOL) && text.equalsIgnoreCase(word);
    }
  }

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int depth;

  ConditionParser(String source) {
    this.source = source;
  }

  Condition parse() throws ConditionException {
    split();
    if (peek().kind() == Kind.END) {
      throw error(peek(), "there is no condition (for example: \"age >= 18\")");
    }
    Condition condition = or();
    if (peek().kind() != Kind.END) {
      throw error(
          peek(), "AND, OR or the end is expected here (a comparison is: COLUMN = CONSTANT)");
    }
    return condition;
  }

  private void split() throws ConditionException {
    Matcher matcher = TOKEN.matcher(source);
    int from = 0;
    while (true) {
      while (from < source.length() && Character.isWhitespace(source.charAt(from))) {
        from++;
      }
      if (from == source.length()) {
        tokens.add(new Token(Kind.END, "", from, from));
        return;
      }
      if (!matcher.region(from, source.length()).lookingAt()) {
        throw unknown(from);
      }
      tokens.add(token(matcher));
      from = matcher.end();
    }
  }

  private static Token token(Matcher matcher) {
    String text = matcher.group();
    for (Kind kind : Kind.values()) {
      if (kind != Kind.END && matcher.group(kind.name().toLowerCase(Locale.ROOT)) != null) {
        String inner =
            switch (kind) {
              case BYTES -> text.substring(2, text.length() - 1);
              case TEXT, QUOTED -> {
                String quote = text.substring(0, 1);
                yield text.substring(1, text.length() - 1).replace(quote + quote, quote);
              }
              default -> text;
            };
        return new Token(kind, inner, matcher.start(), matcher.end());
      }
    }
    throw new IllegalStateException(text);
  }

  private ConditionException unknown(int from) {
    char first = source.charAt(from);
    return new ConditionException(
        source,
        from,
        first == '\'' || first == '"' || first == '`'
            ? "the quote is not closed (within text, ' is written '')"
            : first == ';'
                ? "a condition has no semicolon"
                : first == '*' || first == '/' || first == '%' || first == '|'
                    ? "expressions are not supported: a column is compared with a constant"
                    : "\"" + first + "\" is not expected here");
  }

  private Token peek() {
    return tokens.get(at);
  }

  private Token next() {
    Token token = tokens.get(at);
    at += token.kind() == Kind.END ? 0 : 1;
    return token;
  }

  private boolean accept(String word) {
    if (!peek().is(word)) {
      return false;
    }
    at++;
    return true;
  }

  private void require(String word, String why) throws ConditionException {
    if (!accept(word)) {
      throw error(peek(), word + " is expected here" + why);
    }
  }

  private ConditionException error(Token token, String message) {
    return new ConditionException(source, token.position(), message);
  }

  private Condition or() throws ConditionException {
    List<Condition> parts = new ArrayList<>(List.of(and()));
    while (accept("OR")) {
      parts.add(and());
    }
    return parts.size() == 1 ? parts.get(0) : new Condition.Or(parts);
  }

  private Condition and() throws ConditionException {
    List<Condition> parts = new ArrayList<>(List.of(not()));
    while (accept("AND")) {
      parts.add(not());
    }
    return parts.size() == 1 ? parts.get(0) : new Condition.And(parts);
  }

  private Condition not() throws ConditionException {
    if (++depth > MAX_DEPTH) {
      throw error(peek(), "more than " + MAX_DEPTH + " levels of NOT and parentheses");
    }
    Condition condition;
    if (accept("NOT")) {
      condition = not().negated();
    } else if (accept("(")) {
      condition = or();
      require(")", "");
    } else {
      condition = predicate();
    }
    depth--;
    return condition;
  }

  private Condition predicate() throws ConditionException {
    Token first = peek();
    if (isColumn()) {
      return ofColumn(column());
    }
    Literal literal = literal();
    Comparator comparator = comparator();
    if (comparator == null && literal instanceof Literal.Truth truth) {
      return new Condition.Constant(truth.value());
    }
    if (comparator == null || !isColumn()) {
      throw error(
          comparator == null ? first : peek(),
          "a constant is compared with a column: COLUMN = CONSTANT, or CONSTANT = COLUMN (names of"
              + " columns have no quotes or double quotes, text has single quotes)");
    }
    return new Condition.Compare(column(), comparator.swapped(), literal);
  }

  private Condition ofColumn(ColumnName column) throws ConditionException {
    Token token = peek();
    if (accept("IS")) {
      boolean not = accept("NOT");
      require("NULL", "");
      return new Condition.IsNull(column, not);
    }
    boolean not = accept("NOT");
    if (accept("IN")) {
      return new Condition.In(column, list(), not);
    }
    if (accept("LIKE")) {
      return new Condition.Like(column, pattern(), not);
    }
    if (accept("BETWEEN")) {
      Literal from = literal();
      require("AND", ": BETWEEN a AND b");
      Condition between =
          new Condition.And(
              List.of(
                  new Condition.Compare(column, Comparator.AT_LEAST, from),
                  new Condition.Compare(column, Comparator.AT_MOST, literal())));
      return not ? between.negated() : between;
    }
    if (not) {
      throw error(peek(), "IN, LIKE or BETWEEN is expected after NOT");
    }
    Comparator comparator = comparator();
    if (comparator != null) {
      if (isColumn()) {
        throw error(
            peek(),
            "a column is compared with a constant, not with another column (text has single quotes:"
                + " '%s')".formatted(peek().text().replace("'", "''")));
      }
      return new Condition.Compare(column, comparator, literal());
    }
    if (token.is("(")) {
      throw error(token, "functions are not supported: a column is compared with a constant");
    }
    if (token.is("+") || token.is("-")) {
      throw error(token, "expressions are not supported: a column is compared with a constant");
    }
    return new Condition.Compare(
        column, Comparator.EQUAL, new Literal.Truth(true, column.position()));
  }

  /** Whether the next token begins the name of a column. */
  private boolean isColumn() {
    Token token = peek();
    return token.kind() == Kind.QUOTED
        || (token.kind() == Kind.WORD
            && !RESERVED.contains(token.text().toUpperCase(Locale.ROOT))
            && !isTyped(at));
  }

  /** Whether a token begins a constant such as {@code DATE '2026-01-01'}. */
  private boolean isTyped(int index) {
    Token token = tokens.get(index);
    return (token.is("DATE") || token.is("TIMESTAMP") || token.is("TIME"))
        && tokens.get(index + 1).kind() == Kind.TEXT;
  }

  private ColumnName column() throws ConditionException {
    int position = peek().position();
    List<String> parts = new ArrayList<>(List.of(next().text()));
    while (accept(".")) {
      Token part = next();
      if (part.kind() != Kind.WORD && part.kind() != Kind.QUOTED) {
        throw error(part, "the name of a field is expected after the dot");
      }
      parts.add(part.text());
    }
    return new ColumnName(parts, position);
  }

  private @Nullable Comparator comparator() {
    Token token = peek();
    if (token.kind() != Kind.SYMBOL) {
      return null;
    }
    Comparator found =
        switch (token.text()) {
          case "=", "==" -> Comparator.EQUAL;
          case "<>", "!=" -> Comparator.NOT_EQUAL;
          case "<" -> Comparator.LESS;
          case "<=" -> Comparator.AT_MOST;
          case ">" -> Comparator.GREATER;
          case ">=" -> Comparator.AT_LEAST;
          default -> null;
        };
    at += found == null ? 0 : 1;
    return found;
  }

  private List<Literal> list() throws ConditionException {
    require("(", ": IN (a, b)");
    List<Literal> literals = new ArrayList<>();
    do {
      literals.add(literal());
    } while (accept(","));
    require(")", ", or a comma");
    return literals;
  }

  private LikePattern pattern() throws ConditionException {
    Token pattern = text("LIKE 'a%'");
    int escape = -1;
    if (accept("ESCAPE")) {
      Token token = text("ESCAPE '\\'");
      if (token.text().codePointCount(0, token.text().length()) != 1) {
        throw error(token, "ESCAPE takes one character");
      }
      escape = token.text().codePointAt(0);
    }
    try {
      return LikePattern.of(pattern.text(), escape, pattern.position());
    } catch (IllegalArgumentException e) {
      throw error(pattern, String.valueOf(e.getMessage()));
    }
  }

  private Token text(String example) throws ConditionException {
    Token token = next();
    if (token.kind() != Kind.TEXT) {
      throw error(token, "text in single quotes is expected: " + example);
    }
    return token;
  }

  private Literal literal() throws ConditionException {
    Token token = next();
    if (token.is("+") || token.is("-")) {
      Token digits = next();
      if (digits.kind() != Kind.NUMBER) {
        throw error(digits, "a number is expected after the sign");
      }
      BigDecimal number = number(digits);
      return new Literal.Numeral(token.is("-") ? number.negate() : number, token.position());
    }
    return switch (token.kind()) {
      case NUMBER -> new Literal.Numeral(number(token), token.position());
      case TEXT -> new Literal.Text(token.text(), token.position());
      case BYTES -> bytes(token);
      case WORD -> ofWord(token);
      case QUOTED, SYMBOL, END -> throw noConstant(token);
    };
  }

  /** Reads a constant that begins with a word. */
  private Literal ofWord(Token token) throws ConditionException {
    if (isTyped(at - 1)) {
      return time(token, next());
    }
    if (token.is("TRUE") || token.is("FALSE")) {
      return new Literal.Truth(token.is("TRUE"), token.position());
    }
    if (token.is("NULL")) {
      throw error(
          token,
          "no comparison with NULL is ever true (write COLUMN IS NULL or COLUMN IS NOT NULL)");
    }
    throw noConstant(token);
  }

  private ConditionException noConstant(Token token) {
    return error(
        token,
        "a constant is expected: 5, 'text', TRUE, DATE '2026-01-01', TIMESTAMP '2026-01-01"
            + " 00:00:00Z' or X'00FF'");
  }

  private BigDecimal number(Token token) throws ConditionException {
    if (token.end() < source.length()
        && Character.isUnicodeIdentifierPart(source.charAt(token.end()))) {
      throw error(token, "not a number (a name that begins with a digit needs double quotes)");
    }
    try {
      BigDecimal number = new BigDecimal(token.text());
      if (number.precision() <= MAX_DIGITS && Math.abs((long) number.scale()) <= MAX_DIGITS) {
        return number;
      }
    } catch (NumberFormatException beyond) {
      // as below
    }
    throw error(token, "the number has more than " + MAX_DIGITS + " digits");
  }

  private Literal bytes(Token token) throws ConditionException {
    try {
      return new Literal.Bytes(HexFormat.of().parseHex(token.text()), token.position());
    } catch (IllegalArgumentException e) {
      throw error(token, "bytes are written as pairs of hexadecimal digits: X'00FF'");
    }
  }

  private Literal time(Token type, Token text) throws ConditionException {
    String example =
        type.is("DATE")
            ? "DATE '2026-01-31'"
            : type.is("TIME")
                ? "TIME '12:34:56.789'"
                : "TIMESTAMP '2026-01-31 12:34:56.789Z', or without Z for columns without a time"
                    + " zone";
    try {
      if (type.is("DATE")) {
        return new Literal.Day(LocalDate.parse(text.text()), type.position());
      }
      if (type.is("TIME")) {
        return new Literal.TimeOfDay(LocalTime.parse(text.text()), type.position());
      }
      Matcher parts = TIMESTAMP.matcher(text.text());
      if (parts.matches()) {
        LocalTime time =
            parts.group(2) == null ? LocalTime.MIDNIGHT : LocalTime.parse(parts.group(2));
        String zone = parts.group(3);
        return new Literal.Timestamp(
            LocalDateTime.of(LocalDate.parse(parts.group(1)), time),
            zone == null
                ? null
                : zone.equalsIgnoreCase("UTC") || zone.equalsIgnoreCase("Z")
                    ? ZoneOffset.UTC
                    : ZoneOffset.of(zone),
            type.position());
      }
    } catch (DateTimeException e) {
      throw error(text, "no such time or date: " + example);
    }
    throw error(text, "not written as " + example);
  }
}

package tech.bsdb.tools.rows;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** A symbol of an enumeration. */
final class EnumText extends ScalarText {
  private static final int SHOWN = 10;

  private final Map<String, Integer> numbers = new HashMap<>();
  private final String name;

  EnumText(Schema schema) {
    List<String> symbols = schema.getEnumSymbols();
    for (String symbol : symbols) {
      numbers.put(symbol, numbers.size());
    }
    this.name =
        symbols.size() > SHOWN
            ? "one of the " + symbols.size() + " symbols of " + schema.getName()
            : "one of " + String.join(", ", symbols);
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    Integer number = numbers.get(new String(text, from, to - from));
    if (number == null) {
      return isNot();
    }
    out.putLong(number);
    return null;
  }

  @Override
  String name() {
    return name;
  }
}

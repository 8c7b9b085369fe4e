package tech.bsdb.spark.read;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Rows as text, to be compared whatever their order. */
final class ShownRows {
  private ShownRows() {}

  /** Returns a line for each row, sorted; binary values in hexadecimal digits. */
  static List<String> of(Dataset<Row> rows) {
    List<String> shown = new ArrayList<>();
    for (Row row : rows.collectAsList()) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < row.length(); i++) {
        text.append(
            row.get(i) instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : row.get(i));
        text.append(';');
      }
      shown.add(text.toString());
    }
    shown.sort(null);
    return shown;
  }
}

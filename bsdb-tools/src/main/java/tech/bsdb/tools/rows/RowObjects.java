package tech.bsdb.tools.rows;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * Makes the objects that a program wants for the values of rows, for {@link RowDecoder}. Arrays of
 * bytes are those of the row and must not be changed. Null values are null and need no object;
 * booleans and numbers, except decimals, are those of Java.
 */
public interface RowObjects {
  /**
   * Makes a decimal, which may have more digits than its precision.
   *
   * @throws BadRowException if it cannot be the value of a column
   */
  Object decimal(BigDecimal value, int precision) throws BadRowException;

  /**
   * Makes a string; also a symbol, a UUID, a duration such as {@code P1M2DT3.004S}, and the digits
   * of a decimal that carries its own scale. The bytes of strings are usually UTF-8.
   */
  Object text(byte[] bytes, int from, int length);

  /** Makes a value of bytes. */
  Object bytes(byte[] bytes, int from, int length);

  /** Makes a date from its days since 1970. */
  Object date(int days);

  /**
   * Makes a time of day.
   *
   * @param units from 0 to those of a day
   * @param digits the fraction digits of the unit: 3, 6 or 9
   * @throws BadRowException if it cannot be the value of a column
   */
  Object time(long units, int digits) throws BadRowException;

  /**
   * Makes a timestamp, a point in time or a local one.
   *
   * @param units since 1970
   * @param digits the fraction digits of the unit: 3, 6 or 9
   * @throws BadRowException if it cannot be the value of a column
   */
  Object timestamp(long units, int digits) throws BadRowException;

  /** Makes a struct of its fields. */
  Object struct(@Nullable Object[] fields);

  /** Makes a list of its elements. */
  Object list(@Nullable Object[] elements);

  /** Makes a map of its entries, in their order in the row. */
  Object map(@Nullable Object[] keys, @Nullable Object[] values);
}

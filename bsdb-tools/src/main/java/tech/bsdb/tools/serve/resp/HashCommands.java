package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowFields;

/**
 * Commands about typed rows, each of which is a hash of its fields. Only the fields that are asked
 * for are decoded. A null is a field that does not exist.
 */
final class HashCommands {
  /** The most bytes that repeated fields may add to a reply. */
  private static final int MOST_REPEATED = 1 << 20;

  private static final BitSet NONE = new BitSet();

  private HashCommands() {}

  /**
   * Reads which fields of a row are null, and some fields.
   *
   * @param wanted the columns of these; null for all
   */
  private static void read(RowFields row, Found found, @Nullable BitSet wanted)
      throws CommandException {
    try {
      if (wanted == null) {
        row.readAll(found.bytes(), found.offset(), found.length());
      } else {
        row.read(found.bytes(), found.offset(), found.length(), wanted);
      }
    } catch (BadRowException e) {
      throw CommandException.inUtf8(
          "ERR the value is not a row of the data set's schema: " + e.getMessage());
    }
  }

  /**
   * Returns the reader of the row that was found; null if the key is absent.
   *
   * @throws CommandException if the key has a string
   */
  private static @Nullable RowFields row(Found found) throws CommandException {
    if (!found.isPresent()) {
      return null;
    }
    RowFields row = found.rows();
    if (row == null) {
      throw new CommandException(CommandException.WRONG_TYPE);
    }
    return row;
  }

  private static void write(RowFields row, int column, ReplyWriter out) {
    if (column < 0 || row.isNull(column)) {
      out.absent();
    } else {
      out.bulk(row.buffer(column), row.offset(column), row.length(column));
    }
  }

  private static void writeAll(Found found, boolean names, boolean values, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    int entries = 0;
    if (row != null) {
      read(row, found, values ? null : NONE);
      entries = row.present();
    }
    if (names && values) {
      out.map(entries);
    } else {
      out.array(entries);
    }
    if (row == null) {
      return;
    }
    List<byte[]> all = row.names();
    for (int column = 0; column < all.size(); column++) {
      if (!row.isNull(column)) {
        if (names) {
          out.bulk(all.get(column));
        }
        if (values) {
          out.bulk(row.buffer(column), row.offset(column), row.length(column));
        }
      }
    }
    row.reset();
  }

  private static BitSet only(int column) {
    BitSet wanted = new BitSet();
    if (column >= 0) {
      wanted.set(column);
    }
    return wanted;
  }

  static void hget(Arguments command, LookupRound round) {
    byte[] name = command.argument(2);
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> {
          RowFields row = row(found);
          if (row == null) {
            out.absent();
            return;
          }
          int column = row.find(name);
          read(row, found, only(column));
          write(row, column, out);
          row.reset();
        });
  }

  static void hmget(Arguments command, LookupRound round) throws CommandException {
    List<byte[]> names = names(command, 2, round);
    round.begin();
    round.add(command.argument(1), (found, out) -> writeSome(found, names, out));
  }

  /** Returns the arguments from one on, which are names of fields. */
  private static List<byte[]> names(Arguments command, int from, LookupRound round)
      throws CommandException {
    round.require(command.count() - from, "fields");
    List<byte[]> names = new ArrayList<>(command.count() - from);
    for (int i = from; i < command.count(); i++) {
      names.add(command.argument(i));
    }
    return names;
  }

  private static void writeSome(Found found, List<byte[]> names, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    if (row == null) {
      out.array(names.size());
      names.forEach(name -> out.absent());
      return;
    }
    BitSet wanted = new BitSet();
    for (byte[] name : names) {
      int column = row.find(name);
      if (column >= 0) {
        wanted.set(column);
      }
    }
    read(row, found, wanted);
    requireFewRepeated(row, names);
    out.array(names.size());
    for (byte[] name : names) {
      write(row, row.find(name), out);
    }
    row.reset();
  }

  /**
   * Requires that fields given several times do not make the reply much longer than the row.
   *
   * @throws CommandException if they do
   */
  private static void requireFewRepeated(RowFields row, List<byte[]> names)
      throws CommandException {
    BitSet seen = new BitSet();
    long repeated = 0;
    for (byte[] name : names) {
      int column = row.find(name);
      if (column >= 0 && !row.isNull(column)) {
        repeated += seen.get(column) ? row.length(column) : 0;
        seen.set(column);
      }
    }
    if (repeated > MOST_REPEATED) {
      throw new CommandException(
          "ERR fields that are asked for again would add "
              + repeated
              + " bytes to the reply, which is more than "
              + MOST_REPEATED);
    }
  }

  /** Answers for each field: -1 as it does not expire, or -2 if it does not exist. */
  static void httl(Arguments command, LookupRound round) throws CommandException {
    if (!Arguments.is(command.argument(2), "fields")) {
      throw new CommandException(
          "ERR Mandatory argument FIELDS is missing or not at the right position");
    }
    long stated = Arguments.integer(command.argument(3));
    if (stated < 1) {
      throw new CommandException("ERR Parameter `numFields` should be greater than 0");
    }
    int fields = command.count() - 4;
    if (stated != fields) {
      throw new CommandException(
          "ERR The `numfields` parameter must match the number of arguments");
    }
    List<byte[]> names = names(command, 4, round);
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> {
          RowFields row = row(found);
          if (row != null) {
            read(row, found, NONE);
          }
          out.array(names.size());
          for (byte[] name : names) {
            int column = row == null ? -1 : row.find(name);
            out.integer(row == null || column < 0 || row.isNull(column) ? -2 : -1);
          }
        });
  }

  /**
   * Returns what answers with the length of a field, or else with 1; with 0 if it does not exist.
   */
  static Handler.Queued measure(boolean length) {
    return (command, round) -> {
      byte[] name = command.argument(2);
      round.begin();
      round.add(
          command.argument(1),
          (found, out) -> {
            RowFields row = row(found);
            if (row == null) {
              out.integer(0);
              return;
            }
            int column = row.find(name);
            read(row, found, length ? only(column) : NONE);
            out.integer(column < 0 || row.isNull(column) ? 0 : length ? row.length(column) : 1);
          });
    };
  }

  static void hgetall(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, true, out);
  }

  static void hkeys(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, false, out);
  }

  static void hvals(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, false, true, out);
  }

  /** Answers with all fields that match, as Redis does for small hashes, and the cursor 0. */
  static void hscan(Arguments command, LookupRound round) throws CommandException {
    ScanCommands.Request request =
        ScanCommands.Request.of(3, command.count(), command::argument, true);
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> writeMatching(found, request.pattern(), request.values(), out));
  }

  private static void writeMatching(
      Found found, @Nullable Glob pattern, boolean values, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    List<Integer> columns = row == null ? List.of() : present(row, found, values);
    if (row != null && pattern != null) {
      columns =
          columns.stream().filter(column -> pattern.matches(row.names().get(column))).toList();
    }
    out.array(2);
    out.bulk("0");
    out.array((values ? 2L : 1L) * columns.size());
    if (row != null) {
      for (int column : columns) {
        out.bulk(row.names().get(column));
        if (values) {
          write(row, column, out);
        }
      }
      row.reset();
    }
  }

  /** Reads a row, or only which of its fields are null, and returns the columns that are not. */
  private static List<Integer> present(RowFields row, Found found, boolean values)
      throws CommandException {
    read(row, found, values ? null : NONE);
    List<Integer> columns = new ArrayList<>();
    for (int column = 0; column < row.names().size(); column++) {
      if (!row.isNull(column)) {
        columns.add(column);
      }
    }
    return columns;
  }

  static void hrandfield(Arguments command, LookupRound round) throws CommandException {
    boolean one = command.count() == 2;
    long count = one ? 1 : Arguments.integer(command.argument(2));
    boolean values = command.count() == 4;
    if (command.count() > 4 || (values && !Arguments.is(command.argument(3), "withvalues"))) {
      throw new CommandException(CommandException.SYNTAX);
    }
    if (count == Long.MIN_VALUE) {
      throw new CommandException(
          "ERR value is out of range, value must between -9223372036854775807 and"
              + " 9223372036854775807");
    }
    if (values && Math.abs(count) > Long.MAX_VALUE / 2) {
      throw new CommandException("ERR value is out of range");
    }
    if (count < 0) {
      round.require((int) Math.min(-count, Integer.MAX_VALUE), "fields");
    }
    round.begin();
    round.add(command.argument(1), (found, out) -> writeRandom(found, one, count, values, out));
  }

  /** Writes some fields, each at most once unless their count is negative. */
  private static void writeRandom(
      Found found, boolean one, long count, boolean values, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    List<Integer> columns = row == null ? List.of() : present(row, found, values);
    if (row == null || columns.isEmpty()) {
      if (one) {
        out.absent();
      } else {
        out.array(0);
      }
      return;
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (one) {
      out.bulk(row.names().get(columns.get(random.nextInt(columns.size()))));
      row.reset();
      return;
    }
    List<Integer> chosen = new ArrayList<>();
    if (count < 0) {
      for (long i = count; i < 0; i++) {
        chosen.add(columns.get(random.nextInt(columns.size())));
      }
    } else {
      Collections.shuffle(columns, random);
      chosen.addAll(columns.subList(0, (int) Math.min(count, columns.size())));
    }
    List<byte[]> names = new ArrayList<>();
    chosen.forEach(column -> names.add(row.names().get(column)));
    if (values) {
      requireFewRepeated(row, names);
    }
    out.pairs(chosen.size(), values);
    for (int column : chosen) {
      out.beginPair(values);
      out.bulk(row.names().get(column));
      if (values) {
        write(row, column, out);
      }
    }
    row.reset();
  }

  static void dump(Found found, ReplyWriter out) throws CommandException {
    RowFields row = row(found);
    if (row == null) {
      out.absent();
      return;
    }
    List<Integer> columns = present(row, found, true);
    Dump dump = Dump.hash(columns.size());
    for (int column : columns) {
      byte[] name = row.names().get(column);
      dump.add(name, 0, name.length);
      dump.add(row.buffer(column), row.offset(column), row.length(column));
    }
    row.reset();
    out.bulkAlone(dump.end());
  }

  static void hlen(Found found, ReplyWriter out) throws CommandException {
    RowFields row = row(found);
    if (row != null) {
      read(row, found, NONE);
    }
    out.integer(row == null ? 0 : row.present());
  }
}

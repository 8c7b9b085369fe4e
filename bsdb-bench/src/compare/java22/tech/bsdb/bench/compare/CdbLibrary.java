package tech.bsdb.bench.compare;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The functions of tinycdb 0.78 ({@code cdb.h}), as a Java program calls them. A lookup calls
 * {@code cdb_find} with the key and {@code cdb_read} with a new array for the value. These calls
 * are {@link Linker.Option#critical critical}: they skip the thread's change of state and access
 * the arrays in the heap. A read in place gets the value from the mapped file, whose address the
 * struct holds, without another call.
 *
 * <p>The environment variable {@code LIBCDB} may name another library than {@code libcdb.so.1}.
 */
final class CdbLibrary implements ComparedStore {
  private static final int READ_ONLY = 0;
  private static final int READ_WRITE_NEW = 02 | 0100 | 01000; // O_RDWR | O_CREAT | O_TRUNC
  private static final int MODE = 0644;

  /** {@code struct cdb}; the public macros read only the position and the length of the data. */
  private static final StructLayout CDB =
      MemoryLayout.structLayout(
          JAVA_INT.withName("fd"),
          JAVA_INT.withName("fsize"),
          JAVA_INT.withName("dend"),
          MemoryLayout.paddingLayout(4),
          ADDRESS.withName("mem"),
          JAVA_INT.withName("vpos"),
          JAVA_INT.withName("vlen"),
          JAVA_INT.withName("kpos"),
          JAVA_INT.withName("klen"));

  private static final long VALUE_POSITION = CDB.byteOffset(PathElement.groupElement("vpos"));
  private static final long VALUE_LENGTH = CDB.byteOffset(PathElement.groupElement("vlen"));

  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** More than the 6,168 bytes of {@code struct cdb_make}. */
  private static final int MAKE_BYTES = 8192;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup LIBRARY =
      SymbolLookup.libraryLookup(
          System.getenv().getOrDefault("LIBCDB", "libcdb.so.1"), Arena.global());

  private static final MethodHandle OPEN =
      LINKER.downcallHandle(
          LINKER.defaultLookup().find("open").orElseThrow(),
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle CLOSE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().find("close").orElseThrow(),
          FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle MAKE_START =
      function("cdb_make_start", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle MAKE_ADD =
      function(
          "cdb_make_add",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT),
          Linker.Option.critical(true));
  private static final MethodHandle MAKE_FINISH =
      function("cdb_make_finish", FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final MethodHandle INIT =
      function("cdb_init", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle FREE = function("cdb_free", FunctionDescriptor.ofVoid(ADDRESS));
  private static final MethodHandle FIND =
      function(
          "cdb_find",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT),
          Linker.Option.critical(true));
  private static final MethodHandle READ =
      function(
          "cdb_read",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.critical(true));

  private static MethodHandle function(
      String name, FunctionDescriptor type, Linker.Option... options) {
    return LINKER.downcallHandle(LIBRARY.find(name).orElseThrow(), type, options);
  }

  private static int openFile(Path directory, int flags) throws IOException {
    String file = directory.resolve("store.cdb").toString();
    try (Arena arena = Arena.ofConfined()) {
      int descriptor = (int) OPEN.invokeExact(arena.allocateFrom(file), flags, MODE);
      if (descriptor < 0) {
        throw new IOException("cannot open " + file);
      }
      return descriptor;
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  private static void check(int result, String function) throws IOException {
    if (result < 0) {
      throw new IOException(function + " failed");
    }
  }

  /** Returns the exception to throw for what a call threw; a downcall itself throws nothing. */
  private static IOException failure(Throwable thrown) {
    return thrown instanceof IOException e ? e : new IOException(thrown);
  }

  @Override
  public void build(Records records, Path directory) throws IOException {
    // A line of the text has two bytes beside the record; the file has 24, and a table of 2,048.
    if (Files.size(records.file()) + 22L * records.count() + 2048 > 0xffff_ffffL) {
      throw new UnsupportedOperationException("a cdb file has at most 4 GiB");
    }
    int descriptor = openFile(directory, READ_WRITE_NEW);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment make = arena.allocate(MAKE_BYTES, 8);
      check((int) MAKE_START.invokeExact(make, descriptor), "cdb_make_start");
      for (Records.KeyValue record : records) {
        MemorySegment key = MemorySegment.ofArray(record.key());
        MemorySegment value = MemorySegment.ofArray(record.value());
        check(
            (int)
                MAKE_ADD.invokeExact(make, key, record.key().length, value, record.value().length),
            "cdb_make_add");
      }
      check((int) MAKE_FINISH.invokeExact(make), "cdb_make_finish");
      check((int) CLOSE.invokeExact(descriptor), "close");
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    MemorySegment cdb = Arena.ofAuto().allocate(CDB);
    try {
      check((int) INIT.invokeExact(cdb, openFile(directory, READ_ONLY)), "cdb_init");
    } catch (Throwable e) {
      throw failure(e);
    }
    return new CdbReader(cdb, true);
  }

  /** A reader with its own {@code struct cdb}, in which the library keeps what it found. */
  private static final class CdbReader implements Reader {
    private final MemorySegment cdb;
    private final MemorySegment file;
    private final boolean original;

    CdbReader(MemorySegment cdb, boolean original) {
      this.cdb = cdb;
      this.file =
          cdb.get(ADDRESS, CDB.byteOffset(PathElement.groupElement("mem")))
              .reinterpret(
                  Integer.toUnsignedLong(
                      cdb.get(JAVA_INT, CDB.byteOffset(PathElement.groupElement("fsize")))));
      this.original = original;
    }

    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      try {
        int found = (int) FIND.invokeExact(cdb, MemorySegment.ofArray(key), key.length);
        if (found <= 0) {
          check(found, "cdb_find");
          return null;
        }
        byte[] value = new byte[cdb.get(JAVA_INT, VALUE_LENGTH)];
        check(
            (int)
                READ.invokeExact(
                    cdb,
                    MemorySegment.ofArray(value),
                    value.length,
                    cdb.get(JAVA_INT, VALUE_POSITION)),
            "cdb_read");
        return value;
      } catch (Throwable e) {
        throw failure(e);
      }
    }

    @Override
    public boolean hasReads() {
      return true;
    }

    @Override
    public long read(byte[] key) throws IOException {
      try {
        int found = (int) FIND.invokeExact(cdb, MemorySegment.ofArray(key), key.length);
        if (found <= 0) {
          check(found, "cdb_find");
          return ValueSum.ABSENT;
        }
        long position = Integer.toUnsignedLong(cdb.get(JAVA_INT, VALUE_POSITION));
        return ValueSum.of(cdb.get(JAVA_INT, VALUE_LENGTH), file.get(BIG_ENDIAN_LONG, position));
      } catch (Throwable e) {
        throw failure(e);
      }
    }

    /** Copies the struct, so that both readers share the mapping. */
    @Override
    public Reader forAnotherThread() {
      return new CdbReader(Arena.ofAuto().allocate(CDB).copyFrom(cdb), false);
    }

    @Override
    public void close() throws IOException {
      if (!original) {
        return;
      }
      try {
        int descriptor = cdb.get(JAVA_INT, 0);
        FREE.invokeExact(cdb);
        check((int) CLOSE.invokeExact(descriptor), "close");
      } catch (Throwable e) {
        throw failure(e);
      }
    }
  }
}

package tech.bsdb.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Makes system calls through {@code java.lang.foreign}. The class must have the same members as the
 * Java 17 class of the same name.
 *
 * <p>Pointers are passed as numbers, so that a call allocates nothing. Each thread has its own
 * memory for the error number.
 */
final class LinuxCalls implements SystemCalls {
  private static final int READ_ONLY = 0;
  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int SEEK_END = 2;
  private static final int PROTECTION_READ_WRITE = 3;
  private static final int SHARED_POPULATED = 0x8001;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final long SYSCALL_RING_SETUP = 425;
  private static final long SYSCALL_RING_ENTER = 426;

  private final int directFlag;

  private LinuxCalls(int directFlag) {
    this.directFlag = directFlag;
  }

  /** Says why no system calls can be made, or returns null if they can. */
  static @Nullable String unavailable() {
    return Offer.REASON;
  }

  /** The system calls, or null if they are {@link #unavailable}. */
  static @Nullable SystemCalls instance() {
    return Offer.CALLS;
  }

  /* What this machine supports, determined once at first use. */
  private static final class Offer {
    static final @Nullable String REASON;
    static final @Nullable SystemCalls CALLS;

    static {
      String reason = null;
      SystemCalls calls = null;
      int direct = directFlag(System.getProperty("os.arch"));
      if (!System.getProperty("os.name").equals("Linux")) {
        reason = "needs Linux, this is " + System.getProperty("os.name");
      } else if (direct == 0) {
        reason = "not supported on the processor architecture " + System.getProperty("os.arch");
      } else {
        try {
          LinuxCalls linux = new LinuxCalls(direct);
          linux.close(-1);
          calls = linux;
        } catch (ExceptionInInitializerError e) {
          reason = reason(e.getCause());
        }
      }
      REASON = reason;
      CALLS = calls;
    }

    /** O_DIRECT, whose value depends on the architecture. */
    private static int directFlag(String processor) {
      return switch (processor) {
        case "amd64", "x86_64", "riscv64" -> 0x4000;
        case "aarch64" -> 0x10000;
        default -> 0;
      };
    }

    private static String reason(Throwable cause) {
      if (cause instanceof IllegalCallerException) {
        return "native access is denied to bsdb; start java with"
            + " --enable-native-access=ALL-UNNAMED";
      }
      if (cause instanceof NoSuchElementException) {
        return "the C library lacks a function: " + cause.getMessage();
      }
      return "this Java cannot make native calls: " + cause;
    }
  }

  /* The functions of the C library. */
  private static final class C {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO =
        STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATES =
        ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;

    static final MethodHandle OPEN =
        function(
            "open", FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_INT), firstVariadicArgument(2));
    static final MethodHandle CLOSE = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    static final MethodHandle PREAD =
        function(
            "pread", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    static final MethodHandle LSEEK =
        function("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    static final MethodHandle MMAP =
        function(
            "mmap",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    static final MethodHandle MUNMAP =
        function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    static final MethodHandle MADVISE =
        function("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    static final MethodHandle FADVISE =
        function(
            "posix_fadvise",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    static final MethodHandle EVENTFD =
        function("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    static final MethodHandle EVENTFD_WRITE =
        function("eventfd_write", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    static final MethodHandle SYSCALL_2 =
        function(
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            firstVariadicArgument(1));
    static final MethodHandle SYSCALL_6 =
        function(
            "syscall",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                JAVA_LONG),
            firstVariadicArgument(1));

    private static Linker.Option firstVariadicArgument(int index) {
      return Linker.Option.firstVariadicArg(index);
    }

    private static MethodHandle function(
        String name, FunctionDescriptor descriptor, Linker.Option... options) {
      Linker.Option[] all = new Linker.Option[options.length + 1];
      System.arraycopy(options, 0, all, 1, options.length);
      all[0] = Linker.Option.captureCallState("errno");
      MemorySegment symbol =
          LINKER.defaultLookup().find(name).orElseThrow(() -> new NoSuchElementException(name));
      return LINKER.downcallHandle(symbol, descriptor, all);
    }

    /** The memory that receives the calling thread's error number. */
    static MemorySegment state() {
      return STATES.get();
    }

    /** Returns the result, or the negated error number if it is -1. */
    static long checked(long result, MemorySegment state) {
      return result == -1 ? -state.get(JAVA_INT, ERRNO) : result;
    }
  }

  private static Error unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    if (e instanceof RuntimeException exception) {
      throw exception;
    }
    return new AssertionError(e);
  }

  @Override
  public int open(byte[] path, boolean direct) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment terminated = arena.allocate(path.length + 1L);
      MemorySegment.copy(path, 0, terminated, JAVA_BYTE, 0, path.length);
      MemorySegment state = C.state();
      int flags = READ_ONLY | CLOSE_ON_EXEC | (direct ? directFlag : 0);
      return (int) C.checked((int) C.OPEN.invokeExact(state, terminated, flags), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int close(int descriptor) {
    try {
      MemorySegment state = C.state();
      return (int) C.checked((int) C.CLOSE.invokeExact(state, descriptor), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long pread(int descriptor, long address, long length, long position) {
    try {
      MemorySegment state = C.state();
      return C.checked(
          (long) C.PREAD.invokeExact(state, descriptor, address, length, position), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long size(int descriptor) {
    try {
      MemorySegment state = C.state();
      return C.checked((long) C.LSEEK.invokeExact(state, descriptor, 0L, SEEK_END), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long mapMemory(long length) {
    return map(length, PRIVATE_ANONYMOUS, -1, 0);
  }

  @Override
  public long mapRing(int ring, long length, long offset) {
    return map(length, SHARED_POPULATED, ring, offset);
  }

  private static long map(long length, int flags, int descriptor, long offset) {
    try {
      MemorySegment state = C.state();
      return C.checked(
          (long)
              C.MMAP.invokeExact(
                  state, 0L, length, PROTECTION_READ_WRITE, flags, descriptor, offset),
          state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int unmap(long address, long length) {
    try {
      MemorySegment state = C.state();
      return (int) C.checked((int) C.MUNMAP.invokeExact(state, address, length), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int advise(long address, long length, int advice) {
    try {
      MemorySegment state = C.state();
      return (int) C.checked((int) C.MADVISE.invokeExact(state, address, length, advice), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int adviseFile(int descriptor, int advice) {
    try {
      return -(int) C.FADVISE.invokeExact(C.state(), descriptor, 0L, 0L, advice);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int eventCounter() {
    try {
      MemorySegment state = C.state();
      return (int) C.checked((int) C.EVENTFD.invokeExact(state, 0, CLOSE_ON_EXEC), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int countEvent(int descriptor) {
    try {
      MemorySegment state = C.state();
      return (int) C.checked((int) C.EVENTFD_WRITE.invokeExact(state, descriptor, 1L), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int ringSetup(int entries, long parameters) {
    try {
      MemorySegment state = C.state();
      return (int)
          C.checked(
              (long) C.SYSCALL_2.invokeExact(state, SYSCALL_RING_SETUP, (long) entries, parameters),
              state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public int ringEnter(int ring, int submit, int complete, int flags) {
    try {
      MemorySegment state = C.state();
      return (int)
          C.checked(
              (long)
                  C.SYSCALL_6.invokeExact(
                      state,
                      SYSCALL_RING_ENTER,
                      (long) ring,
                      (long) submit,
                      (long) complete,
                      (long) flags,
                      0L,
                      0L),
              state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long address(ByteBuffer direct) {
    return MemorySegment.ofBuffer(direct).address();
  }

  @Override
  public ByteBuffer view(long address, long length) {
    return MemorySegment.ofAddress(address)
        .reinterpret(length)
        .asByteBuffer()
        .order(ByteOrder.nativeOrder());
  }

  @Override
  public Views views() {
    Arena arena = Arena.ofShared();
    return new Views() {
      @Override
      public ByteBuffer view(long address, long length) {
        return MemorySegment.ofAddress(address)
            .reinterpret(length, arena, null)
            .asByteBuffer()
            .order(ByteOrder.nativeOrder());
      }

      @Override
      public void close() {
        Arenas.close(arena);
      }
    };
  }
}

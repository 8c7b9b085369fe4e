package tech.bsdb.io;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
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
  private static final int CURRENT_DIRECTORY = -100;
  private static final int SEEK_END = 2;
  private static final int PROTECTION_READ_WRITE = 3;
  private static final int SHARED_POPULATED = 0x8001;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int RING_SETUP = 425;
  private static final int RING_ENTER = 426;

  /** What differs between architectures: O_DIRECT, and the numbers of the older system calls. */
  private record Architecture(
      int directFlag,
      int openat,
      int close,
      int lseek,
      int pread64,
      int write,
      int mmap,
      int munmap,
      int madvise,
      int fadvise64,
      int eventfd2) {
    static @Nullable Architecture of(String name) {
      return switch (name) {
        case "amd64", "x86_64" -> new Architecture(0x4000, 257, 3, 8, 17, 1, 9, 11, 28, 221, 290);
        case "aarch64" -> generic(0x10000);
        case "riscv64" -> generic(0x4000);
        default -> null;
      };
    }

    /** The numbers in the kernel's asm-generic/unistd.h. */
    private static Architecture generic(int directFlag) {
      return new Architecture(directFlag, 56, 57, 62, 67, 64, 222, 215, 233, 223, 19);
    }
  }

  private final Architecture architecture;

  private LinuxCalls(Architecture architecture) {
    this.architecture = architecture;
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
      String system = System.getProperty("os.name");
      String processor = System.getProperty("os.arch");
      Architecture architecture = Architecture.of(processor);
      if (!system.equals("Linux")) {
        reason = "needs Linux, this is " + system;
      } else if (architecture == null) {
        reason = "not supported on the processor architecture " + processor;
      } else {
        try {
          LinuxCalls linux = new LinuxCalls(architecture);
          linux.close(-1);
          calls = linux;
        } catch (ExceptionInInitializerError e) {
          reason = reason(e.getCause());
        }
      }
      REASON = reason;
      CALLS = calls;
    }

    private static String reason(Throwable cause) {
      if (cause instanceof IllegalCallerException) {
        return "native access is denied to bsdb; start java with"
            + " --enable-native-access=ALL-UNNAMED";
      }
      return "this Java cannot make native calls: " + cause;
    }
  }

  /* The function syscall of the C library. */
  private static final class C {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO =
        STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATES =
        ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));
    private static final MethodHandle SYSCALL = syscall();

    /** The number 1, which is added to event counters. */
    private static final MemorySegment ONE = Arena.global().allocateFrom(JAVA_LONG, 1);

    private static MethodHandle syscall() {
      Linker linker = Linker.nativeLinker();
      MemorySegment symbol =
          linker
              .defaultLookup()
              .find("syscall")
              .orElseThrow(() -> new NoSuchElementException("no function syscall"));
      return linker.downcallHandle(
          symbol,
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG),
          Linker.Option.firstVariadicArg(1),
          Linker.Option.captureCallState("errno"));
    }

    /** Makes a system call; returns its result, or the negated error number if it failed. */
    static long call(int number, long a, long b, long c, long d, long e, long f) {
      MemorySegment state = STATES.get();
      long result;
      try {
        result = (long) SYSCALL.invokeExact(state, (long) number, a, b, c, d, e, f);
      } catch (RuntimeException | Error unexpected) {
        throw unexpected;
      } catch (Throwable unexpected) {
        throw new AssertionError(unexpected);
      }
      return result == -1 ? -state.get(JAVA_INT, ERRNO) : result;
    }
  }

  @Override
  public int open(byte[] path, boolean direct) {
    int flags = READ_ONLY | CLOSE_ON_EXEC | (direct ? architecture.directFlag : 0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment terminated = arena.allocate(path.length + 1L);
      MemorySegment.copy(path, 0, terminated, JAVA_BYTE, 0, path.length);
      return (int)
          C.call(architecture.openat, CURRENT_DIRECTORY, terminated.address(), flags, 0, 0, 0);
    }
  }

  @Override
  public int close(int descriptor) {
    return (int) C.call(architecture.close, descriptor, 0, 0, 0, 0, 0);
  }

  @Override
  public long pread(int descriptor, long address, long length, long position) {
    return C.call(architecture.pread64, descriptor, address, length, position, 0, 0);
  }

  @Override
  public long size(int descriptor) {
    return C.call(architecture.lseek, descriptor, 0, SEEK_END, 0, 0, 0);
  }

  @Override
  public long mapMemory(long length) {
    return map(length, PRIVATE_ANONYMOUS, -1, 0);
  }

  @Override
  public long mapRing(int ring, long length, long offset) {
    return map(length, SHARED_POPULATED, ring, offset);
  }

  private long map(long length, int flags, int descriptor, long offset) {
    return C.call(architecture.mmap, 0, length, PROTECTION_READ_WRITE, flags, descriptor, offset);
  }

  @Override
  public int unmap(long address, long length) {
    return (int) C.call(architecture.munmap, address, length, 0, 0, 0, 0);
  }

  @Override
  public int advise(long address, long length, int advice) {
    return (int) C.call(architecture.madvise, address, length, advice, 0, 0, 0);
  }

  @Override
  public int adviseFile(int descriptor, int advice) {
    return (int) C.call(architecture.fadvise64, descriptor, 0, 0, advice, 0, 0);
  }

  @Override
  public int eventCounter() {
    return (int) C.call(architecture.eventfd2, 0, CLOSE_ON_EXEC, 0, 0, 0, 0);
  }

  @Override
  public int countEvent(int descriptor) {
    return (int) C.call(architecture.write, descriptor, C.ONE.address(), Long.BYTES, 0, 0, 0);
  }

  @Override
  public int ringSetup(int entries, long parameters) {
    return (int) C.call(RING_SETUP, entries, parameters, 0, 0, 0, 0);
  }

  @Override
  public int ringEnter(int ring, int submit, int complete, int flags) {
    return (int) C.call(RING_ENTER, ring, submit, complete, flags, 0, 0);
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

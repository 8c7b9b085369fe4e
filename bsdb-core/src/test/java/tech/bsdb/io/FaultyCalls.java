package tech.bsdb.io;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The system's own calls, some of which fail, or say less than they did; it counts what is open.
 *
 * <p>A fault is given the result that the call would have, or 0 where the call is not made if the
 * fault returns anything below.
 */
final class FaultyCalls implements SystemCalls {
  final SystemCalls real;
  final Set<String> held = new TreeSet<>();

  IntFunction<Integer> onRingSetup = flags -> 0;
  LongUnaryOperator onMapRing = offset -> 0;
  IntUnaryOperator onEventCounter = result -> result;
  IntUnaryOperator onOpen = result -> result;
  LongUnaryOperator onMapMemory = result -> result;
  LongUnaryOperator onPread = result -> result;
  IntUnaryOperator onRingEnter = submit -> 0;

  /** Of a read's completion: its result to what we are told. */
  IntUnaryOperator onCompletion = result -> result;

  /** Of the event counter's completion. */
  IntUnaryOperator onEvent = result -> result;

  int featuresHidden;
  int enters;

  private @Nullable ByteBuffer layout;
  private long rings;
  private int seen;

  FaultyCalls(SystemCalls real) {
    this.real = real;
  }

  /** Those of this system, or null. */
  static @Nullable FaultyCalls create() {
    SystemCalls real = LinuxCalls.instance();
    return real == null ? null : new FaultyCalls(real);
  }

  private int hold(int descriptor) {
    if (descriptor >= 0) {
      held.add("descriptor " + descriptor);
    }
    return descriptor;
  }

  private long hold(long address) {
    if (address >= 0) {
      held.add("mapping " + address);
    }
    return address;
  }

  @Override
  public int open(byte[] path, boolean direct) {
    int fault = onOpen.applyAsInt(0);
    return fault < 0 ? fault : hold(real.open(path, direct));
  }

  @Override
  public int close(int descriptor) {
    if (!held.remove("descriptor " + descriptor)) {
      throw new AssertionError("closes " + descriptor + ", which is not open");
    }
    return real.close(descriptor);
  }

  @Override
  public long pread(int descriptor, long address, long length, long position) {
    long fault = onPread.applyAsLong(length);
    return fault < 0 ? fault : real.pread(descriptor, address, fault, position);
  }

  @Override
  public long size(int descriptor) {
    return real.size(descriptor);
  }

  @Override
  public long mapMemory(long length) {
    long fault = onMapMemory.applyAsLong(0);
    return fault < 0 ? fault : hold(real.mapMemory(length));
  }

  @Override
  public long mapRing(int ring, long length, long offset) {
    long fault = onMapRing.applyAsLong(offset);
    if (fault < 0) {
      return fault;
    }
    long address = hold(real.mapRing(ring, length, offset));
    if (offset == 0) {
      rings = address;
    }
    return address;
  }

  @Override
  public int unmap(long address, long length) {
    if (!held.remove("mapping " + address)) {
      throw new AssertionError("unmaps what is not mapped");
    }
    return real.unmap(address, length);
  }

  @Override
  public int advise(long address, long length, int advice) {
    return -Errno.EINVAL; // advice is never needed
  }

  @Override
  public int adviseFile(int descriptor, int advice) {
    return -Errno.EINVAL; // nor this
  }

  @Override
  public int eventCounter() {
    int fault = onEventCounter.applyAsInt(0);
    return fault < 0 ? fault : hold(real.eventCounter());
  }

  @Override
  public int countEvent(int descriptor) {
    return real.countEvent(descriptor);
  }

  @Override
  public int ringSetup(int entries, long address) {
    ByteBuffer view = real.view(address, 120);
    int fault = onRingSetup.apply(view.getInt(8));
    if (fault < 0) {
      return fault;
    }
    int ring = hold(real.ringSetup(entries, address));
    view.putInt(20, view.getInt(20) & ~featuresHidden);
    ByteBuffer copy = ByteBuffer.allocateDirect(120).order(ByteOrder.nativeOrder());
    copy.put(0, view, 0, 120);
    layout = copy;
    seen = 0;
    return ring;
  }

  @Override
  public int ringEnter(int ring, int submit, int complete, int flags) {
    enters++;
    int fault = onRingEnter.applyAsInt(submit);
    if (fault < 0) {
      return fault;
    }
    int result = real.ringEnter(ring, submit, complete, flags);
    forge();
    return result;
  }

  /** Changes the results of the completions that are new. */
  private void forge() {
    if (layout == null) {
      return;
    }
    int entries = layout.getInt(4);
    int completions = layout.getInt(80 + 20);
    ByteBuffer view = real.view(rings, completions + 16L * entries);
    int tail = view.getInt(layout.getInt(80 + 4));
    for (; seen != tail; seen++) {
      int at = completions + (seen & entries - 1) * 16;
      IntUnaryOperator fault = view.getLong(at) == -1 ? onEvent : onCompletion;
      view.putInt(at + 8, fault.applyAsInt(view.getInt(at + 8)));
    }
  }

  @Override
  public long address(ByteBuffer direct) {
    return real.address(direct);
  }

  @Override
  public ByteBuffer view(long address, long length) {
    return real.view(address, length);
  }

  @Override
  public Views views() {
    return real.views();
  }

  /** A descriptor whose reads wait until it is counted up. */
  static NativeFile stuck(FaultyCalls calls, int counter) throws IOException {
    SystemCalls opening =
        (SystemCalls)
            Proxy.newProxyInstance(
                SystemCalls.class.getClassLoader(),
                new Class<?>[] {SystemCalls.class},
                (proxy, method, arguments) ->
                    method.getName().equals("open")
                        ? (Object) counter
                        : method.invoke(calls, arguments));
    return NativeFile.open(opening, Path.of("stuck"), true);
  }
}

package tech.bsdb.io;

/**
 * Has the virtual machine report faults in mapped memory, such as those of a file that was cut
 * short. The reads that fault go on with arbitrary bytes.
 */
public final class Faults {
  /**
   * On Java 17 to 21, a fault is reported when compiled code next calls the runtime, which may be
   * long after it has answered; on later versions, when the method returns, at the latest.
   */
  private static final boolean LATE = Runtime.version().feature() < 22;

  /** 0, which the compilers do not know. */
  private static int none;

  private Faults() {}

  /**
   * Throws an {@link InternalError} if a read by this thread has faulted and that was not reported.
   * To be called after reads, before an outcome counts that arbitrary bytes may have caused.
   */
  public static void surface() {
    if (LATE) {
      byte[][] unused = new byte[none][none]; // of this size only the runtime can make it
    }
  }
}

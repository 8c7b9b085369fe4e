package tech.bsdb.tools.serve.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeldMemoryTest {
  private static final int MIB = 1 << 20;
  private final HeldMemory memory = new HeldMemory(64 * MIB, 16 * MIB);

  private HeldMemory.Connection from(String address) throws UnknownHostException {
    return memory.connection(InetAddress.getByName(address));
  }

  @Test
  void oneClientLeavesRoomForOthers() throws UnknownHostException {
    HeldMemory.Connection first = from("10.0.0.1");
    assertThat(first.share().reserve(8 * MIB)).isTrue();
    assertThat(from("10.0.0.1").share().reserve(8 * MIB)).isFalse();
    assertThat(from("10.0.0.1").share().reserve(6 * MIB)).isTrue();
    assertThat(memory.clientRefusals()).isEqualTo(1);
    for (int other = 2; other < 5; other++) {
      assertThat(from("10.0.0." + other).share().reserve(14 * MIB)).isTrue();
    }
    assertThat(from("10.0.0.9").share().reserve(14 * MIB)).isFalse();
    assertThat(memory.refusals()).isEqualTo(1);
    assertThat(memory.held()).isEqualTo(56 * MIB);
  }

  @Test
  void addressesOfOneSixthVersionNetworkAreOneClient() throws UnknownHostException {
    assertThat(from("2001:db8::1").share().reserve(8 * MIB)).isTrue();
    assertThat(from("2001:db8::ffff:2").share().reserve(8 * MIB)).isFalse();
    assertThat(from("2001:db8:0:1::1").share().reserve(8 * MIB)).isTrue();
    assertThat(memory.clients()).isEqualTo(2);
  }

  @Test
  void whatIsSmallIsAdmittedBesideWhatIsLarge() throws UnknownHostException {
    for (int i = 1; i <= 4; i++) {
      assertThat(from("10.0.0." + i).share().reserve(14 * MIB)).isTrue();
    }
    HeldMemory.Connection small = from("10.0.0.1");
    int admitted = 0;
    while (small.share().reserve(HeldMemory.SMALL)) {
      admitted++;
      assertThat(admitted).isLessThan(1000);
    }
    assertThat(admitted).isEqualTo(2 * MIB / HeldMemory.SMALL);
    assertThat(small.share().reserve(HeldMemory.FREE)).isTrue(); // not worth counting
    assertThat(from("10.0.0.2").share().reserve(HeldMemory.SMALL)).isTrue();
    assertThat(memory.held()).isLessThanOrEqualTo(64 * MIB);
  }

  @Test
  void whatIsLargerThanTheBoundIsAdmittedAlone() throws UnknownHostException {
    HeldMemory.Share share = from("10.0.0.1").share();
    assertThat(share.reserve(MIB)).isTrue();
    assertThat(share.reserve(99 * MIB)).isTrue();
    assertThat(from("10.0.0.1").share().reserve(MIB)).isFalse();
    assertThat(from("10.0.0.2").share().reserve(MIB)).isFalse();
    assertThat(from("10.0.0.2").share().reserve(HeldMemory.SMALL)).isTrue();
    assertThat(from("10.0.0.1").share().reserve(HeldMemory.SMALL)).isTrue();
    share.settle(MIB);
    assertThat(from("10.0.0.2").share().reserve(8 * MIB)).isTrue();
  }

  @Test
  void aRefusalChangesNothing() throws UnknownHostException {
    HeldMemory.Share share = from("10.0.0.1").share();
    HeldMemory.Share other = from("10.0.0.1").share();
    assertThat(other.reserve(10 * MIB)).isTrue();
    assertThat(share.reserve(100)).isTrue();
    assertThat(share.reserve(8 * MIB)).isFalse();
    assertThat(share.bytes()).isEqualTo(100);
    assertThat(memory.held()).isEqualTo(10 * MIB);
    assertThat(share.reserve(2 * MIB)).isTrue();
    other.takeOver(share);
    assertThat(other.bytes()).isEqualTo(12 * MIB + 100);
    assertThat(memory.held()).isEqualTo(12 * MIB + 100);
  }

  @Test
  void clientsThatAreGoneAreForgotten() throws UnknownHostException {
    HeldMemory.Connection connection = from("10.0.0.1");
    HeldMemory.Share late = connection.share();
    assertThat(late.reserve(MIB)).isTrue();
    connection.end();
    assertThat(memory.clients()).isEqualTo(1); // a value is still being read for it
    late.settle(0);
    assertThat(memory.clients()).isZero();
    assertThat(memory.held()).isZero();
  }

  @Test
  void noMoreIsAdmittedThanTheBoundWhateverThreadsDo() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      int seed = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  HeldMemory.Connection connection = from("10.0.0." + seed % 6);
                  List<HeldMemory.Share> shares = new ArrayList<>();
                  Random random = new Random(seed);
                  for (int i = 0; i < 20_000; i++) {
                    HeldMemory.Share share = connection.share();
                    if (share.reserve(1L << random.nextInt(23))) {
                      shares.add(share);
                    }
                    while (shares.size() > random.nextInt(30)) {
                      shares.remove(random.nextInt(shares.size())).settle(0);
                    }
                  }
                  shares.forEach(share -> share.settle(0));
                  connection.end();
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    assertThat(memory.peak()).isBetween(1L, 64L * MIB);
    assertThat(memory.held()).isZero();
    assertThat(memory.clients()).isZero();
  }
}

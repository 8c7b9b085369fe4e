package tech.bsdb.io;

/** Direct reads where no system calls can be made. */
class DirectChannelTest extends QueueContract {
  @Override
  Engine engine() {
    return new DirectEngine(null, 16);
  }
}

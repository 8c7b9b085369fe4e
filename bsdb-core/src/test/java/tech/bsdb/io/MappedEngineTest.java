package tech.bsdb.io;

class MappedEngineTest extends PageSourceContract {
  @Override
  Engine engine() {
    return new MappedEngine();
  }
}

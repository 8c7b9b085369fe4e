package tech.bsdb.tools.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.input.Places.Place;

final class PlacesTest {

  @Test
  void findsEveryRecordsPlace() {
    Random random = new Random(1);
    Places places = new Places(1000);
    List<Place> truth = new ArrayList<>();
    int file = 0;
    long line = 1;
    while (truth.size() < 5000) {
      int records = 1 + random.nextInt(40);
      places.add(truth.size(), records, file, line);
      for (int i = 0; i < records; i++) {
        truth.add(new Place(file, line++));
      }
      switch (random.nextInt(3)) {
        case 0 -> line += 1L + random.nextInt(3);
        case 1 -> {
          file += 1 + random.nextInt(2);
          line = 1L + random.nextInt(3);
        }
        default -> {}
      }
    }
    for (int record = 0; record < truth.size(); record++) {
      assertThat(places.of(record)).isEqualTo(truth.get(record));
    }
    assertThat(places.of(-1)).isNull();
    assertThat(places.of(truth.size())).isNull();
    assertThat(new Places(10).of(0)).isNull();
  }

  @Test
  void findsNothingBeyondTheRunsItKeeps() {
    Places places = new Places(2);
    places.add(0, 5, 0, 1);
    places.add(5, 5, 0, 6);
    places.add(10, 5, 0, 100);
    places.add(15, 5, 0, 200);
    places.add(20, 5, 0, 205);
    assertThat(places.of(9)).isEqualTo(new Place(0, 10));
    assertThat(places.of(14)).isEqualTo(new Place(0, 104));
    assertThat(places.of(15)).isNull();
    assertThat(places.of(20)).isNull();
  }
}

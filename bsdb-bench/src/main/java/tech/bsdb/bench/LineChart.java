package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A line chart as inline SVG in two sizes: one for wide windows and one for phones, where scaled
 * text would be unreadable. Colours and fonts come from the page's style sheet.
 *
 * @param summary a text description for screen readers
 * @param xName the label of the horizontal axis
 * @param x the horizontal axis
 * @param y the vertical axis
 * @param lines the lines, in the order of their colours
 */
record LineChart(String summary, String xName, Scale x, Scale y, List<Line> lines) {
  private static final int LEFT = 58;
  private static final int RIGHT = 18;
  private static final int TOP = 12;
  private static final int BOTTOM = 46;

  /**
   * A line.
   *
   * @param style the style sheet class that colours it
   * @param name its name in the legend; empty for none
   * @param dots its points from left to right
   * @param marked whether to draw the points as well as the line
   */
  record Line(String style, String name, List<Dot> dots, boolean marked) {}

  /**
   * A point of a line.
   *
   * @param hint the text shown when a pointer hovers over it
   */
  record Dot(double x, double y, String hint) {}

  /** Returns the chart with its legend. */
  String html() {
    return legend() + svg("wide", 960, 340, 12) + svg("narrow", 350, 280, 5);
  }

  private String legend() {
    StringBuilder html = new StringBuilder();
    for (Line line : lines) {
      if (!line.name().isEmpty()) {
        html.append("<li><i class=\"").append(line.style()).append("\"></i>");
        html.append(HtmlReport.escaped(line.name())).append("</li>");
      }
    }
    return html.isEmpty() ? "" : "<ul class=\"legend\">" + html + "</ul>\n";
  }

  private String svg(String form, int width, int height, int mostNames) {
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            form,
            width,
            height,
            HtmlReport.escaped(summary)));
    double plotWidth = width - LEFT - RIGHT;
    double plotHeight = height - TOP - BOTTOM;
    for (Scale.Tick tick : y.ticks()) {
      double at = TOP + plotHeight * (1 - tick.at());
      svg.append(line("grid", LEFT, at, (double) width - RIGHT, at));
      svg.append(text("end", LEFT - 8.0, at + 4, tick.label()));
    }
    for (Scale.Tick tick : thinned(x.ticks(), mostNames)) {
      double at = LEFT + plotWidth * tick.at();
      svg.append(line("tick", at, (double) height - BOTTOM, at, height - BOTTOM + 5.0));
      boolean atEnd = tick.at() > 0.97 && tick.label().length() > 4;
      svg.append(text(atEnd ? "end" : "middle", at, height - BOTTOM + 19.0, tick.label()));
    }
    svg.append(
        line("axis", LEFT, (double) height - BOTTOM, (double) width - RIGHT, height - BOTTOM));
    svg.append(text("middle", LEFT + plotWidth / 2, height - 6.0, xName));
    for (Line line : lines) {
      StringBuilder path = new StringBuilder();
      StringBuilder dots = new StringBuilder();
      for (Dot dot : line.dots()) {
        double atX = LEFT + plotWidth * x.place().applyAsDouble(dot.x());
        double atY = TOP + plotHeight * (1 - y.place().applyAsDouble(dot.y()));
        path.append(path.isEmpty() ? "M" : "L").append(pair(atX, atY));
        dots.append(circle(line, atX, atY, dot.hint()));
      }
      svg.append(String.format("<path class=\"line %s\" d=\"%s\"/>\n", line.style(), path));
      svg.append(dots);
    }
    return svg.append("</svg>\n").toString();
  }

  private static String circle(Line line, double x, double y, String hint) {
    return String.format(
        Locale.ROOT,
        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>%s</title></circle>\n",
        line.marked() ? "dot " + line.style() : "ghost",
        x,
        y,
        line.marked() ? 4 : 7,
        HtmlReport.escaped(hint));
  }

  /** Drops tick labels from the middle if there are too many. */
  private static List<Scale.Tick> thinned(List<Scale.Tick> ticks, int most) {
    int step = (ticks.size() + most - 1) / most;
    List<Scale.Tick> kept = new ArrayList<>();
    for (int i = (ticks.size() - 1) % step; i < ticks.size(); i += step) {
      kept.add(ticks.get(i));
    }
    return kept;
  }

  private static String line(String style, double x1, double y1, double x2, double y2) {
    return String.format(
        Locale.ROOT,
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
        style,
        x1,
        y1,
        x2,
        y2);
  }

  private static String text(String anchor, double x, double y, String words) {
    return String.format(
        Locale.ROOT,
        "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        anchor,
        x,
        y,
        HtmlReport.escaped(words));
  }

  private static String pair(double x, double y) {
    return String.format(Locale.ROOT, "%.1f %.1f", x, y);
  }
}

// Lines over the last hour. The figures stand beside it as text; the picture itself is one image to a screen reader.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { rate } from "./text";
import type { Series } from "./types";

export interface Line {
  name: string;
  title: string;
  /** A custom property of the style sheet. */
  color: string;
}

interface Props {
  series: Series;
  lines: Line[];
  values: Record<string, (number | null)[]>;
  unit: string;
  label: string;
  /** In rem. */
  height: number;
}

/** Pixels of a rem: larger on very large screens. */
function rem(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize);
}

function data({ series, lines, values }: Props): uPlot.AlignedData {
  const length = Math.max(1, ...lines.map((line) => values[line.name]?.length ?? 0));
  const times = Array.from({ length }, (_, at) => series.from + at * series.stepSeconds);
  return [times, ...lines.map((line) => values[line.name] ?? new Array<null>(length).fill(null))];
}

function draw(box: HTMLElement, props: Props): uPlot {
  const style = getComputedStyle(box);
  const color = (name: string): string => {
    box.style.color = `var(${name})`;
    return style.color;
  };
  const font = `${0.8 * rem()}px ${style.fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: color("--muted"),
    font,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const strokes = props.lines.map((line) => color(line.color));
  box.style.color = "";
  return new uPlot(
    {
      width: Math.max(200, box.clientWidth),
      height: props.height * rem(),
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [
        { ...axis, size: 1.9 * rem(), space: 5.5 * rem(), values: (_plot, times) => clock(times) },
        { ...axis, size: 4.1 * rem(), space: 2.6 * rem(), values: (_plot, values) => values.map((value) => rate(value) + props.unit) },
      ],
      series: [{}, ...props.lines.map((line, number) => ({ label: line.title, stroke: strokes[number] ?? "", width: 1.75, points: { show: true, size: 5, filter: alone } }))],
      hooks: {
        setCursor: [(plot) => tell(box, plot, props)],
      },
    },
    data(props),
    box,
  );
}

/** Labels of the time axis, with seconds where minutes would repeat. */
function clock(times: number[]): string[] {
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  return times.map((time) => new Date(time * 1000).toTimeString().slice(0, step < 60 ? 8 : 5));
}

/** Values without a neighbour, which no line shows. */
function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  const missing = (at: number): boolean => typeof values[at] !== "number";
  return Array.from(values.keys()).filter((at) => !missing(at) && missing(at - 1) && missing(at + 1));
}

/** Writes the values under the cursor below the chart, where space is kept for them. */
function tell(box: HTMLElement, plot: uPlot, props: Props): void {
  const line = box.nextElementSibling;
  const at = plot.cursor.idx;
  if (!line) {
    return;
  }
  const time = at === null || at === undefined ? undefined : plot.data[0][at];
  if (time === undefined) {
    line.textContent = " ";
    return;
  }
  const parts = props.lines.map((shown, number) => {
    const value = plot.data[number + 1]?.[at as number];
    return `${shown.title} ${value === null || value === undefined ? "–" : rate(value) + props.unit}`;
  });
  line.textContent = new Date(time * 1000).toTimeString().slice(0, 8) + "  " + parts.join(" · ");
}

export function Chart(props: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = box.current;
    if (!element) {
      return undefined;
    }
    const renew = (): void => {
      plot.current?.destroy();
      plot.current = draw(element, latest.current);
    };
    renew();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, element.clientWidth), height: latest.current.height * rem() }));
    resized.observe(element);
    const themed = new MutationObserver(renew);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", renew);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", renew);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    plot.current?.setData(data(props));
  }, [props.series]);

  return (
    <figure class="chart">
      <div ref={box} class="chart-space" style={{ minHeight: `${props.height}rem` }} role="img" aria-label={props.label} />
      <figcaption class="chart-cursor muted"> </figcaption>
    </figure>
  );
}

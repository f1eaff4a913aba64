// Times: relative, with the exact one on hover, in the reader's zone. Judged by the store's clock, which may differ from the browser's.
import { signal } from "@preact/signals";
import type { JSX } from "preact";

const tick = signal(Date.now());
let ahead = 0;
setInterval(() => {
  if (!document.hidden) {
    tick.value = Date.now();
  }
}, 1000);

/** Learns how far the store's clock is ahead, from an answer that has just come. */
export function learnClock(now: string | null): void {
  const time = now === null ? Number.NaN : Date.parse(now);
  if (!Number.isNaN(time)) {
    const difference = time - Date.now();
    // Less than a second is the way of the answer.
    ahead = Math.abs(difference) < 1000 ? 0 : difference;
  }
}

export function duration(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds));
  if (whole < 60) {
    return `${whole} s`;
  }
  if (whole < 3600) {
    return `${Math.floor(whole / 60)} min`;
  }
  const hours = Math.floor(whole / 3600);
  if (hours < 48) {
    return `${hours} h ${Math.floor((whole % 3600) / 60)} min`;
  }
  return `${Math.floor(hours / 24)} d`;
}

const FORMAT = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

export function exact(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) {
    return iso;
  }
  const parts = Object.fromEntries(FORMAT.formatToParts(time).map((part) => [part.type, part.value]));
  return `${parts["year"]}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}:${parts["second"]} ${parts["timeZoneName"]}`;
}

/** "12 s ago", "in 5 min". */
export function Ago(props: { at: string; plain?: boolean }): JSX.Element {
  const seconds = (Date.parse(props.at) - tick.value - ahead) / 1000;
  let text = exact(props.at);
  if (!Number.isNaN(seconds)) {
    const length = duration(seconds);
    text = props.plain ? length : seconds > 0.5 ? "in " + length : Math.abs(seconds) < 1 ? "now" : length + " ago";
  }
  return (
    <time dateTime={props.at} title={exact(props.at)}>
      {text}
    </time>
  );
}

/** "in 40 s"; once it is over: "due". */
export function Next(props: { at: string }): JSX.Element {
  return Date.parse(props.at) - tick.value - ahead > 500 ? <Ago at={props.at} /> : <span title={exact(props.at)}>due</span>;
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g;

/** A sentence of the program: instants in it are shown in the reader's zone. */
export function told(text: string): string {
  return text.replace(INSTANT, exact);
}

const PERIOD = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/** A duration as ISO 8601 writes it, as people read it: "24 h". Anything else stays as it is. */
export function period(text: string): string {
  const [, days, hours, minutes, seconds] = PERIOD.exec(text) ?? [];
  const parts = [[days, "d"], [hours, "h"], [minutes, "min"], [seconds, "s"]].filter(([count]) => count !== undefined);
  return parts.length === 0 ? text : parts.map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** What is left until then; says `over` when nothing is. */
export function Countdown(props: { until: string; over: string }): JSX.Element {
  const seconds = (Date.parse(props.until) - tick.value - ahead) / 1000;
  return (
    <time dateTime={props.until} title={exact(props.until)} class={seconds <= 0 ? "warn-text" : ""}>
      {seconds <= 0 ? `${props.over} ${duration(seconds)} ago` : `${duration(seconds)} left`}
    </time>
  );
}

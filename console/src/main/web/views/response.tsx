// A stored body is never rendered: it is text in a box, whatever its type says.
import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { bytes, hex, indent, size, Stored, visible } from "../text";
import type { StoredResponse } from "../types";

/** More than anybody reads at once; marking what is hidden in a text costs time. */
const SHOWN_MAX = 64 << 10;

type Way = "json" | "text" | "hex";
const TITLES: Record<Way, string> = { json: "JSON", text: "Text", hex: "Hex" };

export function BodyView(props: { text?: string | null | undefined; base64?: string | null | undefined; cut?: boolean | undefined }): JSX.Element {
  const { text, base64 } = props;
  const json = useComputed(() => (typeof props.text === "string" ? indent(props.text) : null));
  const chosen = useSignal<Way | null>(null);
  const whole = useSignal(false);
  const ways: Way[] = [...(json.value === null ? [] : (["json"] as const)), ...(typeof text === "string" ? (["text"] as const) : []), "hex"];
  const way = chosen.value !== null && ways.includes(chosen.value) ? chosen.value : (ways[0] ?? "hex");
  const full =
    way === "json" ? (json.value ?? "") : way === "text" ? (text ?? "") : hex(typeof text === "string" ? new TextEncoder().encode(text) : bytes(base64 ?? ""));
  const shown = whole.value ? full : full.slice(0, SHOWN_MAX);
  return (
    <>
      <div class="segmented" role="group" aria-label="Show the body as">
        {ways.map((name) => (
          <button key={name} type="button" aria-pressed={name === way} onClick={() => (chosen.value = name)}>
            {TITLES[name]}
          </button>
        ))}
      </div>
      <pre class={"body way-" + way} tabIndex={0} role="region" aria-label="Body">
        <bdi>{full === "" ? <em>empty</em> : visible(shown, true)}</bdi>
      </pre>
      {shown.length < full.length && (
        <button type="button" class="small" onClick={() => (whole.value = true)}>
          Show all of it ({size(full.length)})
        </button>
      )}
      {props.cut && <p class="muted">Only the beginning is sent here. The command line shows all: onlyonce keys show</p>}
    </>
  );
}

export function ResponseView(props: { of: StoredResponse }): JSX.Element {
  const response = props.of;
  const headers = Object.entries(response.headers);
  return (
    <>
      <p>
        <strong class={"status-" + Math.floor(response.status / 100)}>Status {response.status}</strong>
        <span class="muted"> · body of {size(response.bodyBytes)}</span>
      </p>
      {headers.length > 0 && (
        <dl class="headers">
          {headers.flatMap(([name, values]) =>
            values.map((value, number) => (
              <>
                <dt key={name + number}>
                  <Stored text={name} />
                </dt>
                <dd class="mono">
                  <Stored text={value} />
                </dd>
              </>
            )),
          )}
        </dl>
      )}
      {response.hidden ? (
        <p class="box note-box">
          The body is not shown: <Stored text={response.hidden} />.
        </p>
      ) : response.body === undefined && response.bodyBase64 === undefined ? (
        <p class="muted">The body was not stored.</p>
      ) : (
        <BodyView text={response.body} base64={response.bodyBase64} cut={response.cut} />
      )}
    </>
  );
}

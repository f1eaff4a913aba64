import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Failure, post } from "../api";
import { Stored } from "../text";
import type { KeyDetail, Match } from "../types";
import { ErrorBox, Field } from "../ui";

/** Lines of "Name: value", as one copies them from a log. */
function headers(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      found[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
    }
  }
  return found;
}

const WORDS = new Map<boolean | null, [word: string, tone: string]>([
  [true, ["same", "good-text"]],
  [false, ["differs", "bad-text"]],
  [null, ["cannot be told", "muted"]],
]);

export function MatchForm(props: { of: KeyDetail }): JSX.Element {
  const [firstMethod = "POST", firstTarget = "/"] = (props.of.target ?? "").split(" ", 2).filter((part) => part !== "");
  const method = useSignal(firstMethod);
  const target = useSignal(firstTarget);
  const fields = useSignal("Content-Type: application/json");
  const body = useSignal("");
  const answer = useSignal<Match | null>(null);
  const failure = useSignal<Failure | null>(null);
  const busy = useSignal(false);

  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    busy.value = true;
    failure.value = null;
    try {
      answer.value = await post<Match>("Comparing", "keys/match", {
        key: { ref: props.of.ref },
        request: { method: method.value, target: target.value, headers: headers(fields.value), body: body.value },
      });
    } catch (error) {
      answer.value = null;
      failure.value = error as Failure;
    } finally {
      busy.value = false;
    }
  };

  return (
    <form class="match" onSubmit={(event) => void ask(event)}>
      <p class="muted">Paste a request to learn whether this key would answer it, or which part differs. Nothing is executed or recorded.</p>
      <div class="field-row">
        <Field label="Method" class="short">
          {(id) => <input id={id} required maxLength={20} value={method.value} onInput={(event) => (method.value = event.currentTarget.value)} />}
        </Field>
        <Field label="Path and query" class="grow">
          {(id) => <input id={id} required class="mono" spellcheck={false} value={target.value} onInput={(event) => (target.value = event.currentTarget.value)} />}
        </Field>
      </div>
      <Field label="Headers" hint="One in a line: Name: value">
        {(id, hint) => <textarea id={id} aria-describedby={hint} class="mono" rows={2} spellcheck={false} value={fields.value} onInput={(event) => (fields.value = event.currentTarget.value)} />}
      </Field>
      <Field label="Body">
        {(id) => <textarea id={id} class="mono" rows={5} spellcheck={false} value={body.value} onInput={(event) => (body.value = event.currentTarget.value)} />}
      </Field>
      <button type="submit" disabled={busy.value}>
        {busy.value ? "Comparing…" : "Compare"}
      </button>
      <ErrorBox failure={failure.value} />
      <div aria-live="polite">
        {answer.value && (
          <div class={"box " + (answer.value.match === true ? "good" : answer.value.match === false ? "error" : "note-box")}>
            <p>
              <strong><Stored text={answer.value.summary} /></strong>
            </p>
            <ul class="parts">
              {answer.value.parts.map((part) => {
                const [word, tone] = WORDS.get(part.same ?? null) ?? ["", ""];
                return (
                  <li key={part.part}>
                    <Stored text={part.part} />: <strong class={tone}>{word}</strong> <Stored text={part.detail} class="muted" />
                  </li>
                );
              })}
            </ul>
          </div>
        )}
      </div>
    </form>
  );
}

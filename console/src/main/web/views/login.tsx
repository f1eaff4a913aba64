import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ended, Failure, logIn, session } from "../api";
import { ErrorBox, Field, Heading } from "../ui";

export function LoginView(): JSX.Element {
  const name = useSignal("");
  const credential = useSignal("");
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);

  if (session.value?.login === "application") {
    return (
      <main class="alone card">
        <Heading title="Not logged in" />
        <p>The application's own security decides who may see this console. Log in to the application, then reload this page.</p>
      </main>
    );
  }

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    busy.value = true;
    try {
      await logIn(name.value.trim(), credential.value);
    } catch (error) {
      failure.value = error instanceof Failure ? error : new Failure("Logging in", 0, String(error), false);
      credential.value = "";
    } finally {
      busy.value = false;
    }
  };

  return (
    <main class="alone card">
      <div class="brand">
        <img src="icon.svg" alt="" width="32" height="32" />
        <span>Onlyonce</span>
      </div>
      <Heading title="Log in" />
      {ended.value && <p class="box note-box">Your session has ended. Log in again to go on where you were.</p>}
      <form onSubmit={(event) => void submit(event)}>
        <Field label="Your name" hint="The audit records it with every change.">
          {(id, hint) => (
            <input id={id} aria-describedby={hint} required maxLength={64} autocomplete="username" autofocus
              value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
          )}
        </Field>
        <Field label="Credential" hint="From the file admin-token, or admin-read-token to look only, in the program's data directory.">
          {(id, hint) => (
            <input id={id} aria-describedby={hint} type="password" required autocomplete="current-password"
              value={credential.value} onInput={(event) => (credential.value = event.currentTarget.value)} />
          )}
        </Field>
        <LoginError failure={failure.value} />
        <button type="submit" class="primary wide" disabled={busy.value}>
          {busy.value ? "Logging in…" : "Log in"}
        </button>
      </form>
    </main>
  );
}

/** A wrong credential is no failure of the program: one sentence is enough. */
function LoginError(props: { failure: Failure | null }): JSX.Element {
  if (props.failure?.code === "login_failed") {
    return (
      <div class="box error" role="alert">
        <p>This credential is not valid here. Check that it belongs to this program, then try again.</p>
      </div>
    );
  }
  return <ErrorBox failure={props.failure} />;
}

import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";
import { useLoaded } from "./poll";
import { loadSession, session } from "./api";
import { endWhenIdle } from "./idle";
import { route, view } from "./route";
import { Announcements, Empty, ErrorBox, focusHeading, Heading } from "./ui";
import { Shell } from "./shell";
import { DoubtView } from "./views/doubt";
import { KeyView } from "./views/key";
import { KeysView } from "./views/keys";
import { LettersView } from "./views/letters";
import { LoginView } from "./views/login";
import { OperationsView } from "./views/operations";
import { OverviewView } from "./views/overview";
import { TenantsView } from "./views/tenants";

function Nowhere(): JSX.Element {
  return (
    <>
      <Heading title="There is no such page" />
      <Empty title="This address leads nowhere">
        It may be incomplete. Start from the <a href="#/overview">overview</a>.
      </Empty>
    </>
  );
}

function View(): JSX.Element {
  switch (view.value) {
    case "overview":
      return <OverviewView />;
    case "keys":
      return <KeysView />;
    case "key":
      return <KeyView key={route.value.path[1] ?? ""} reference={route.value.path[1] ?? ""} />;
    case "doubt":
      return <DoubtView />;
    case "letters":
      return <LettersView />;
    case "operations":
      return <OperationsView />;
    case "tenants":
      return <TenantsView />;
    default:
      return <Nowhere />;
  }
}

function App(): JSX.Element {
  // Again now and then: a session ends, a credential is revoked.
  const { failure, reload } = useLoaded(loadSession, "", 60);
  const place = route.value.path.join("/");
  const loggedIn = session.value?.loggedIn;
  const shown = useRef(false);
  useEffect(() => {
    // A new view starts at its heading, for the eye and for a screen reader; the first one leaves the focus alone.
    if (shown.current && loggedIn) {
      focusHeading();
      scrollTo(0, 0);
    }
    shown.current = loggedIn !== undefined;
  }, [place, loggedIn]);
  if (session.value === null) {
    return (
      <main class="alone">
        <ErrorBox failure={failure.value} retry={() => void reload()} />
      </main>
    );
  }
  return (
    <>
      {session.value.loggedIn ? (
        <Shell>
          <View />
        </Shell>
      ) : (
        <LoginView />
      )}
      <Announcements />
    </>
  );
}

const root = document.getElementById("app");
if (root) {
  endWhenIdle();
  render(<App />, root);
}

// The page asks for news all the time, so to the server it is never idle. A person can be: then the session ends, in all tabs.
import { ended, logOut, session } from "./api";

const IDLE_MILLIS = 15 * 60_000;
const LOOK_MILLIS = 10_000;

const tabs = new BroadcastChannel("onlyonce-used");
let used = Date.now();
let told = 0;

function use(): void {
  used = Date.now();
  if (used - told > LOOK_MILLIS) {
    told = used;
    tabs.postMessage(null);
  }
}

export function endWhenIdle(): void {
  tabs.onmessage = () => {
    used = Date.now();
  };
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel"]) {
    addEventListener(event, use, { passive: true });
  }
  setInterval(() => {
    if (session.value?.loggedIn && session.value.login === "form" && Date.now() - used > IDLE_MILLIS) {
      void logOut().then(() => {
        ended.value = true;
      }, () => {
        // It ends by itself.
      });
    }
  }, LOOK_MILLIS);
}

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { get, mayChange, post, query, session } from "../api";
import { useLoaded } from "../poll";
import { refine, route } from "../route";
import { number, plain, size, Stored } from "../text";
import { Ago, told } from "../time";
import type { Letter, LetterDetail, Message } from "../types";
import { announce, Dialog, Empty, ErrorBox, Heading, keepFocus, KeyLink, Pager, Section, Skeleton, Table } from "../ui";
import { ActionForm, Consequence, ReasonField } from "./actions";
import { BodyView } from "./response";

const PAGE = 50;

interface Letters {
  letters: Letter[];
  next?: string | number | null;
  consumers?: { group: string; topic: string; reason: string; count: number; lastAt: string }[];
  messages?: Message[];
  consumersScope?: string;
}

/** Consumers send what they give up to dead letters at their broker. */
function Consumers(props: { of: Letters; onShow: (message: Message) => void }): JSX.Element | null {
  const { consumers = [], messages = [], consumersScope = "" } = props.of;
  if (consumers.length === 0) {
    return null;
  }
  return (
    <Section title="Messages that consumers gave up" note={<Stored text={told(consumersScope)} />}>
      <p class="muted">
        They are in the dead-letter queue or topic of their broker, which alone can send them again or remove them. A message that carries its id is never
        applied twice, however often it is sent.
      </p>
      <Table label="Messages that consumers gave up" class="cards">
        <thead>
          <tr>
            <th scope="col">Consumer</th>
            <th scope="col">From</th>
            <th scope="col">Reason</th>
            <th scope="col" class="right">Messages</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {consumers.map((one) => (
            <tr key={JSON.stringify([one.group, one.topic, one.reason])}>
              <td data-label="Consumer"><Stored text={one.group} /></td>
              <td data-label="From"><Stored text={one.topic} /></td>
              <td data-label="Reason"><Stored text={one.reason} /></td>
              <td data-label="Messages" class="right number">{number(one.count)}</td>
              <td data-label="Last"><Ago at={one.lastAt} /></td>
            </tr>
          ))}
        </tbody>
      </Table>
      {messages.length > 0 && (
        <>
          <h3>The last {number(messages.length)}</h3>
          <Table label="The messages that were given up last" class="cards">
            <thead>
              <tr>
                <th scope="col">Message</th>
                <th scope="col">From</th>
                <th scope="col" class="right">Tries</th>
                <th scope="col">Given up</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {messages.map((message) => (
                <tr key={message.id}>
                  <td data-label="Message">
                    <button type="button" class="link mono" aria-label={"Show message " + plain(message.coordinates)} onClick={() => props.onShow(message)}>
                      <Stored text={message.coordinates} />
                    </button>{" "}
                    <span class="muted">{size(message.payloadBytes)}</span>
                  </td>
                  <td data-label="From"><Stored text={message.topic} /></td>
                  <td data-label="Tries" class="right number">{message.tries}</td>
                  <td data-label="Given up"><Ago at={message.at} /></td>
                  <td data-label="Why" class="clip"><Stored text={message.text.slice(0, 200)} /></td>
                </tr>
              ))}
            </tbody>
          </Table>
        </>
      )}
    </Section>
  );
}

function MessageDialog(props: { of: Message; onClose: () => void }): JSX.Element {
  const { value, failure, reload } = useLoaded(() => get<Message>("Showing the message", "outbox/message" + query({ id: props.of.id })), String(props.of.id), 0);
  const { of } = props;
  const message = value.value;
  return (
    <Dialog title="A message that was given up" onClose={props.onClose}>
      <p class="which">
        <Stored text={of.coordinates} class="mono" /> from <Stored text={of.topic} />, by <Stored text={of.group} />
      </p>
      <h3>Why: <Stored text={of.reason} /></h3>
      <pre class="body" tabIndex={0}><Stored text={of.text} /></pre>
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {!message && !failure.value && <Skeleton />}
      {message && <h3>Payload {message.cut && <span class="muted">its beginning; the broker has the rest</span>}</h3>}
      {message?.hidden ? (
        <p class="box note-box">It is not shown: <Stored text={message.hidden} />.</p>
      ) : (
        message && <BodyView text={message.payload} base64={message.payloadBase64} />
      )}
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={props.onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function LetterDialog(props: { of: Letter; way: "retry" | "drop"; onClose: () => void; onDone: () => void }): JSX.Element {
  const reason = useSignal("");
  const { of, way } = props;
  const act = async (): Promise<void> => {
    await post<unknown>(way === "retry" ? "Retrying the call" : "Dropping the letter", "outbox/" + way, { id: of.id, reason: reason.value.trim() });
    announce(way === "retry" ? "The call gets all its tries again." : "The letter was dropped.");
    props.onDone();
  };
  return (
    <ActionForm title={way === "retry" ? "Try a dead letter again" : "Drop a dead letter"} button={way === "retry" ? "Try again" : "Drop this letter"}
      danger={way === "drop"} onClose={props.onClose} act={act}>
      <p class="which">
        Letter {of.id} to <Stored text={of.topic} />, key <Stored text={of.key} class="mono" />
      </p>
      <ReasonField reason={reason} />
      {way === "retry" ? (
        <Consequence tone="warn">A worker makes the call again, with the same downstream key: a provider that honours it does not act twice.</Consequence>
      ) : (
        <Consequence tone="danger">The call is never made, and its key stays as it is: somebody must settle it another way.</Consequence>
      )}
    </ActionForm>
  );
}

function PayloadDialog(props: { of: Letter; onClose: () => void }): JSX.Element {
  const { value, failure, reload } = useLoaded(() => get<LetterDetail>("Showing the payload", "outbox/show" + query({ id: props.of.id })), String(props.of.id), 0);
  const letter = value.value;
  return (
    <Dialog title={`Letter ${props.of.id}`} onClose={props.onClose}>
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {!letter && !failure.value && <Skeleton />}
      {letter?.lastError && (
        <>
          <h3>Last error</h3>
          <pre class="body" tabIndex={0}><Stored text={letter.lastError} /></pre>
        </>
      )}
      {letter && <h3>Payload</h3>}
      {letter?.hidden ? (
        <p class="box note-box">It is not shown: <Stored text={letter.hidden} />.</p>
      ) : (
        letter && <BodyView text={letter.payload} base64={letter.payloadBase64} />
      )}
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={props.onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

export function LettersView(): JSX.Element {
  const after = route.value.query["after"];
  const { value, failure, reload } = useLoaded(
    () =>
      get<Letters>("Listing dead letters", "outbox" + query({ after, limit: PAGE })),
    after ?? "",
    10,
  );
  const open = useSignal<{ of: Letter; way: "retry" | "drop" | "payload" } | null>(null);
  const message = useSignal<Message | null>(null);
  const close = (): void => {
    open.value = null;
    message.value = null;
  };
  const done = (): void => {
    close();
    void reload().then(keepFocus);
  };
  const loaded = value.value;
  const now = open.value;
  return (
    <>
      <Heading title="Dead letters" />
      <p class="lead">Calls that were given up after all their tries. Remove the cause, then try them again; or drop them and settle their keys.</p>
      <ErrorBox failure={failure.value} retry={() => void reload()} />
      {!loaded && !failure.value && <Skeleton lines={6} />}
      {loaded?.letters.length === 0 && <Empty title="No dead letters">No call was given up. There is nothing to do here.</Empty>}
      {loaded && loaded.letters.length > 0 && (
        <>
          <Table label="Dead letters" class="cards">
            <thead>
              <tr>
                <th scope="col">Letter</th>
                <th scope="col">Key</th>
                <th scope="col">Tenant</th>
                <th scope="col">To</th>
                <th scope="col" class="right">Tries</th>
                <th scope="col">Accepted</th>
                <th scope="col">Last error</th>
                <th scope="col">Decide</th>
              </tr>
            </thead>
            <tbody>
              {loaded.letters.map((letter) => (
                <tr key={letter.id}>
                  <td data-label="Letter">
                    <button type="button" class="link" onClick={() => (open.value = { of: letter, way: "payload" })}>
                      {letter.id}
                    </button>
                    {letter.payloadBytes ? <span class="muted"> {size(letter.payloadBytes)}</span> : null}
                  </td>
                  <td data-label="Key">{letter.ref ? <KeyLink of={{ ref: letter.ref, key: letter.key }} /> : <Stored text={letter.key} class="mono" />}</td>
                  <td data-label="Tenant"><Stored text={letter.tenant} /></td>
                  <td data-label="To"><Stored text={letter.topic} /></td>
                  <td data-label="Tries" class="right number">{letter.tries}</td>
                  <td data-label="Accepted"><Ago at={letter.acceptedAt} /></td>
                  <td data-label="Last error" class="clip">{letter.lastError ? <Stored text={letter.lastError.slice(0, 200)} /> : "–"}</td>
                  <td data-label="Decide" class="buttons">
                    <button type="button" class="small" disabled={!mayChange()} aria-label={`Retry letter ${letter.id}`} onClick={() => (open.value = { of: letter, way: "retry" })}>
                      Retry…
                    </button>
                    <button type="button" class="small" disabled={!mayChange()} aria-label={`Drop letter ${letter.id}`} onClick={() => (open.value = { of: letter, way: "drop" })}>
                      Drop…
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
          <Pager first={after === undefined} onFirst={() => refine({ after: undefined })} next={loaded.next ? () => refine({ after: String(loaded.next) }) : null}>
            {session.value?.payloads === "hidden" && <span class="muted">Payloads are hidden by configuration.</span>}
          </Pager>
        </>
      )}
      {loaded && <Consumers of={loaded} onShow={(it) => (message.value = it)} />}
      {message.value && <MessageDialog of={message.value} onClose={close} />}
      {now?.way === "payload" && <PayloadDialog of={now.of} onClose={close} />}
      {(now?.way === "retry" || now?.way === "drop") && <LetterDialog of={now.of} way={now.way} onClose={close} onDone={done} />}
    </>
  );
}

import { useConnectionState, useConversation } from "@parley/client/react";
import { type FormEvent, useEffect, useRef, useState } from "react";

/** One conversation. It is the same in every tab, and after a reload, because the log on the server is what is shown. */
export function Chat({ id }: { id: string }) {
  const { state, handle } = useConversation(id);
  const connection = useConnectionState();
  const end = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const isBusy = state.status === "active";
  const failed = state.pending.filter((message) => message.status === "failed");

  // Stays at the end while the answer grows.
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [state.messages]);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (text.trim() === "") return;
    // While a turn runs, the message waits for a turn of its own. `ifBusy: "steer"` would join the running one.
    // A refusal shows in `pending`, so there is nothing to await.
    handle.send(text, { ifBusy: "queue" }).catch(() => undefined);
    setText("");
  }

  return (
    <main>
      <header>
        <a href="/">New chat</a>
        <span>{connection.phase === "open" ? "" : connection.phase}</span>
      </header>
      <section aria-live="polite">
        {state.messages.map(({ id: messageId, role, parts }) => (
          <article key={messageId} className={role}>
            {parts.map(({ key, chunk }) => {
              if (chunk.type === "text") return <p key={key}>{chunk.text}</p>;
              if (chunk.type === "tool-call") return <code key={key}>{chunk.toolName}</code>;
              return null;
            })}
          </article>
        ))}
        {state.queue.messages.map(({ id: messageId, text: waiting }) => (
          <article key={messageId} className="user waiting">
            <p>{waiting}</p>
          </article>
        ))}
        <div ref={end} />
      </section>
      {failed.map(({ id: messageId, error }) => (
        <p key={messageId} role="alert">
          {error?.message ?? "The message could not be sent."}{" "}
          <button type="button" onClick={() => handle.retry(messageId).catch(() => undefined)}>
            Try again
          </button>{" "}
          <button type="button" onClick={() => handle.cancel(messageId)}>
            Discard
          </button>
        </p>
      ))}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          placeholder="Say something"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">{isBusy ? "Queue" : "Send"}</button>
        {isBusy && (
          <button type="button" onClick={() => handle.stop().catch(() => undefined)}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

// A minimal page with the AI SDK's hook and its markdown: no list, no history, no style.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement as h, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Streamdown } from "streamdown";

const transport = new DefaultChatTransport({ api: "/api/chat" });

function Chat({ id, stored }) {
  const { messages, sendMessage } = useChat({ id, messages: stored, transport });
  const [text, setText] = useState("");
  const onKeyDown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    sendMessage({ text });
    setText("");
  };
  const shown = messages.map(({ id, parts }) =>
    h(
      "div",
      { key: id },
      parts.map((part, index) => (part.type === "text" ? h(Streamdown, { key: index }, part.text) : null)),
    ),
  );
  const field = { value: text, onChange: (event) => setText(event.target.value), onKeyDown };
  return h("main", null, h("div", { id: "answers" }, shown), h("textarea", field));
}

/** Shows the conversation that the address names, as `#id/count`, with so many messages; else an empty one. */
function Page() {
  const [chat, setChat] = useState({ id: "new", stored: [] });
  useEffect(() => {
    const show = async () => {
      const [, id, count] = /^#(.+)\/(\d+)$/.exec(location.hash) ?? [];
      if (id === undefined) return setChat({ id: "new", stored: [] });
      const stored = await (await fetch(`/api/messages?count=${count}`)).json();
      setChat({ id, stored });
    };
    addEventListener("hashchange", show);
    if (location.hash !== "") show();
    return () => removeEventListener("hashchange", show);
  }, []);
  return h(Chat, { key: chat.id, ...chat });
}

createRoot(document.getElementById("root")).render(h(Page));

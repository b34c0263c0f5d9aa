// A minimal page with the AI SDK's hook and its markdown: no list, no history, no style.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { Streamdown } from "streamdown";

const transport = new DefaultChatTransport({ api: "/api/chat" });

function Chat() {
  const { messages, sendMessage } = useChat({ transport });
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

createRoot(document.getElementById("root")).render(h(Chat));

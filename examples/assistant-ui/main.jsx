// A page of assistant-ui whose chat is a Parley conversation: it reads the messages, resumes an answer that is running,
// and stops on the server. Bundle it with any bundler and serve it beside Parley (`serve(runtime, { page: { folder } })`).
import { useChat } from "@ai-sdk/react";
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
} from "@assistant-ui/react";
import { AssistantChatTransport, useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { createRoot } from "react-dom/client";

const api = "/api/chat";
const id = location.hash.slice(1) || "assistant-ui";

const Text = ({ text }) => <p data-part="text">{text}</p>;

const Message = () => (
  <MessagePrimitive.Root data-message="">
    <MessagePrimitive.Parts components={{ Text }} />
  </MessagePrimitive.Root>
);

function Chat({ messages }) {
  const chat = useChat({ id, messages, transport: new AssistantChatTransport({ api }), resume: true });
  const runtime = useAISDKRuntime(chat);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ Message }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input placeholder="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
      <button type="button" onClick={() => fetch(`${api}/${id}/stop`, { method: "POST" })}>
        Stop
      </button>
      <output>{chat.status}</output>
    </AssistantRuntimeProvider>
  );
}

const messages = await (await fetch(`${api}/${id}/messages`)).json();
createRoot(document.getElementById("root")).render(<Chat messages={messages} />);

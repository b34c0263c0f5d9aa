// A page in the composition of AI Elements whose chat is a Parley conversation: it reads the messages, resumes an answer
// that is running, shows reasoning and tools, decides on approvals, and stops on the server. Bundle it with any bundler
// and serve it beside Parley (`serve(runtime, { page: { folder } })`).
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createRoot } from "react-dom/client";
import {
  Confirmation,
  ConfirmationAction,
  ConfirmationActions,
  ConfirmationRequest,
  Conversation,
  ConversationContent,
  ConversationScrollButton,
  Message,
  MessageContent,
  MessageResponse,
  PromptInput,
  PromptInputSubmit,
  PromptInputTextarea,
  Reasoning,
  ReasoningContent,
  ReasoningTrigger,
  Tool,
  ToolContent,
  ToolHeader,
  ToolInput,
  ToolOutput,
} from "./elements.jsx";

const api = "/api/chat";
const id = location.hash.slice(1) || "ai-elements";

function ToolPart({ part, decide }) {
  const { toolName, state, input, output, errorText, approval } = part;
  return (
    <Tool>
      <ToolHeader type={part.type} toolName={toolName} state={state} />
      <ToolContent>
        <ToolInput input={input} />
        <Confirmation approval={approval} state={state}>
          <ConfirmationRequest>May {toolName} run?</ConfirmationRequest>
          <ConfirmationActions>
            <ConfirmationAction onClick={() => decide({ id: approval.id, approved: false })}>
              Deny
            </ConfirmationAction>
            <ConfirmationAction onClick={() => decide({ id: approval.id, approved: true })}>
              Allow
            </ConfirmationAction>
          </ConfirmationActions>
        </Confirmation>
        <ToolOutput output={output} errorText={errorText} />
      </ToolContent>
    </Tool>
  );
}

function Part({ part, decide }) {
  switch (part.type) {
    case "text":
      return <MessageResponse>{part.text}</MessageResponse>;
    case "reasoning":
      return (
        <Reasoning isStreaming={part.state === "streaming"}>
          <ReasoningTrigger />
          <ReasoningContent>{part.text}</ReasoningContent>
        </Reasoning>
      );
    // Every tool of the server is one of these: the page does not know their types.
    case "dynamic-tool":
      return <ToolPart part={part} decide={decide} />;
    default:
      return null;
  }
}

function Chat({ messages: read }) {
  const { messages, sendMessage, status, addToolApprovalResponse } = useChat({
    id,
    messages: read,
    transport: new DefaultChatTransport({ api }),
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === "submitted" || status === "streaming";
  return (
    <>
      <Conversation>
        <ConversationContent>
          {messages.map((message) => (
            <Message from={message.role} key={message.id}>
              <MessageContent>
                {message.parts.map((part, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
                  <Part key={index} part={part} decide={addToolApprovalResponse} />
                ))}
              </MessageContent>
            </Message>
          ))}
        </ConversationContent>
        <ConversationScrollButton />
      </Conversation>
      <PromptInput
        onSubmit={({ text }) => {
          // The SDK's own stop leaves the answer; this ends it.
          if (isBusy) return fetch(`${api}/${id}/stop`, { method: "POST" });
          return sendMessage({ text });
        }}
      >
        <PromptInputTextarea />
        <PromptInputSubmit status={status} />
      </PromptInput>
    </>
  );
}

const messages = await (await fetch(`${api}/${id}/messages`)).json();
createRoot(document.getElementById("root")).render(<Chat messages={messages} />);

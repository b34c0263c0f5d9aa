// Components with the names and props of AI Elements, over the packages that those stand on (streamdown,
// use-stick-to-bottom), without their styles. AI Elements is source that its command line copies into an application:
// there, `npx ai-elements add conversation message prompt-input reasoning tool confirmation` takes the place of this file.
import { Streamdown } from "streamdown";
import { StickToBottom, useStickToBottomContext } from "use-stick-to-bottom";

export const Conversation = (props) => (
  <StickToBottom role="log" initial="instant" resize="instant" style={{ height: "70vh" }} {...props} />
);

export const ConversationContent = (props) => <StickToBottom.Content {...props} />;

export function ConversationScrollButton() {
  const { isAtBottom, scrollToBottom } = useStickToBottomContext();
  if (isAtBottom) return null;
  return (
    <button type="button" onClick={() => scrollToBottom()}>
      Newest
    </button>
  );
}

export const Message = ({ from, ...props }) => <article data-from={from} {...props} />;
export const MessageContent = (props) => <div {...props} />;
export const MessageResponse = ({ children }) => (
  <div data-part="text">
    <Streamdown>{children}</Streamdown>
  </div>
);

export const Reasoning = ({ isStreaming, children }) => (
  <details data-part="reasoning" open={isStreaming}>
    {children}
  </details>
);
export const ReasoningTrigger = () => <summary>Reasoning</summary>;
export const ReasoningContent = ({ children }) => <Streamdown>{children}</Streamdown>;

export const Tool = (props) => <section data-part="tool" {...props} />;
export const ToolHeader = ({ type, toolName, state }) => (
  <h3 data-state={state}>{type === "dynamic-tool" ? toolName : type.replace("tool-", "")}</h3>
);
export const ToolContent = (props) => <div {...props} />;
export const ToolInput = ({ input }) => <pre>{JSON.stringify(input)}</pre>;
export function ToolOutput({ output, errorText }) {
  if (errorText !== undefined) return <output data-error="">{errorText}</output>;
  if (output === undefined) return null;
  return <output>{typeof output === "string" ? output : JSON.stringify(output)}</output>;
}

/** Shown while the call waits for a decision. */
export function Confirmation({ approval, state, children }) {
  return approval === undefined || state !== "approval-requested" ? null : <fieldset>{children}</fieldset>;
}
export const ConfirmationRequest = (props) => <legend {...props} />;
export const ConfirmationActions = (props) => <div {...props} />;
export const ConfirmationAction = (props) => <button type="button" {...props} />;

export function PromptInput({ onSubmit, children }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        onSubmit({ text: String(new FormData(form).get("message") ?? "") });
        form.reset();
      }}
    >
      {children}
    </form>
  );
}
export const PromptInputTextarea = () => <textarea name="message" placeholder="Message" />;
export const PromptInputSubmit = ({ status }) => (
  <button type="submit">{status === "submitted" || status === "streaming" ? "Stop" : "Send"}</button>
);

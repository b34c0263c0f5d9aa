import { useConversation } from "@parley/client/react";
import { ComposerFrame, IdleHint } from "../composer/composer.js";
import { Spinner } from "../ui/loading/spinner.js";
import { BigText } from "../ui/text/big-text.js";
import { messageText } from "./message-text.js";
import { PlainAnswer } from "./parts/answer-text.js";

/**
 * A conversation until the code that shows it is loaded: the message just sent, and the text of the answer, if it has
 * started.
 */
export function OpeningConversation({ conversationId }: { readonly conversationId: string }) {
  const { state } = useConversation(conversationId);
  const said = state.messages.find(({ role }) => role === "user");
  const answer = state.messages.find(({ role }) => role === "assistant");
  return (
    <main className="flex min-w-0 flex-1 flex-col" aria-busy="true">
      <div className="h-14 shrink-0" />
      {said === undefined ? (
        <div className="flex flex-1 items-center justify-center text-faint">
          <Spinner label="Loading" />
        </div>
      ) : (
        <div className="mx-auto flex min-h-0 w-full max-w-[46rem] flex-1 flex-col items-end overflow-hidden px-4 pt-20 sm:px-6">
          <div className="mt-1 max-w-[88%] rounded-xl rounded-br-sm border border-transparent bg-accent-soft px-4 py-2.5 text-[1rem] leading-relaxed opacity-70 sm:max-w-[80%]">
            <BigText text={messageText(said)} lines={24} chars={4_000} />
          </div>
          {answer !== undefined && (
            <div className="mt-6 w-full">
              <PlainAnswer text={messageText(answer)} />
            </div>
          )}
        </div>
      )}
      <ComposerFrame hint={<IdleHint />}>
        <div className="h-24 rounded-xl border border-line-strong bg-raised" />
      </ComposerFrame>
    </main>
  );
}

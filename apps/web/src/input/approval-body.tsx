import { useInbox } from "@parley/client/react";
import type { GrantScope } from "@parley/wire";
import { AlwaysForm } from "./always-form.js";
import { ArgumentList } from "./argument-list.js";
import { DenyForm, KeyButton } from "./card-form.js";
import { EditForm } from "./edit-form.js";
import { type OpenRequest, useKept } from "./use-request.js";

type Mode = "choose" | "edit" | "always" | "deny";

/** The arguments of a call, and the four ways to decide on it. */
export function ApprovalBody({ open }: { readonly open: OpenRequest }) {
  const { details, isSending, lacks, respond } = open;
  const { conversationId, requestId, argumentsText, argumentsHash } = details;
  const [mode, setMode] = useKept<Mode>(requestId, "mode", () => "choose");
  const back = () => setMode("choose");
  const isDisabled = isSending || lacks !== undefined;
  const allow = (more: { readonly argumentsText?: string; readonly scope?: GrantScope } = {}) =>
    respond({ decision: "allow", argumentsHash, ...more });
  if (mode === "edit") {
    return (
      <EditForm
        open={open}
        onBack={back}
        onAllow={(text) => allow(text === undefined ? {} : { argumentsText: text })}
      />
    );
  }
  return (
    <>
      <ArgumentList argumentsText={argumentsText} />
      {mode === "always" ? (
        <AlwaysForm open={open} onBack={back} onAllow={(scope) => allow({ scope })} />
      ) : mode === "deny" ? (
        <DenyForm open={open} label="Deny" onBack={back} />
      ) : (
        lacks === undefined && (
          <>
            <Remembered conversationId={conversationId} requestId={requestId} />
            <div className="mt-3 flex flex-wrap gap-2">
              <KeyButton letter="a" tone="primary" disabled={isDisabled} onClick={() => allow()}>
                Allow once
              </KeyButton>
              <KeyButton letter="w" disabled={isDisabled} onClick={() => setMode("always")}>
                Allow always…
              </KeyButton>
              <KeyButton letter="e" disabled={isDisabled} onClick={() => setMode("edit")}>
                Edit…
              </KeyButton>
              <KeyButton letter="d" tone="danger" disabled={isDisabled} onClick={() => setMode("deny")}>
                Deny…
              </KeyButton>
            </div>
          </>
        )
      )}
    </>
  );
}

/** Shows that an approval also applies to later calls, if the tool asks only once in each conversation. */
function Remembered({
  conversationId,
  requestId,
}: {
  readonly conversationId: string;
  readonly requestId: string;
}) {
  const { state } = useInbox();
  const request = state.requests.find(
    (each) => each.requestId === requestId && each.conversationId === conversationId,
  );
  if (request?.remember !== true) return null;
  return (
    <p className="mt-2 text-xs text-soft">
      This tool asks once in each conversation: allowing it also allows its later calls here.
    </p>
  );
}

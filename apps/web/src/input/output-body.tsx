import type { JsonValue } from "@parley/wire";
import { useId } from "react";
import { Button } from "../ui/button.js";
import { fieldClass } from "../ui/text/text-field.js";
import { parseArguments } from "./argument-changes.js";
import { ArgumentList } from "./argument-list.js";
import { CardForm, DenyForm, KeyButton } from "./card-form.js";
import { type OpenRequest, useKept } from "./use-request.js";

/**
 * A call of a tool that runs in the caller's program: the turn waits for that program, and a user can answer instead.
 */
export function OutputBody({ open }: { readonly open: OpenRequest }) {
  const { details, isSending, lacks, respond } = open;
  const { requestId, argumentsText } = details;
  const id = useId();
  const [mode, setMode] = useKept<"wait" | "hand-in" | "deny">(requestId, "mode", () => "wait");
  const [typed, setTyped] = useKept(requestId, "output", () => "");
  const [isError, setError] = useKept(requestId, "failed", () => false);
  const back = () => setMode("wait");
  return (
    <>
      <p className="mb-3 text-sm text-soft">
        This tool belongs to the program that sent the message. The turn goes on when that program hands in
        the output.
      </p>
      <ArgumentList argumentsText={argumentsText} />
      {lacks !== undefined ? null : mode === "deny" ? (
        <DenyForm open={open} label="Go on without it" onBack={back} />
      ) : mode === "hand-in" ? (
        <CardForm
          takesFocus
          label="Hand the output in"
          onSubmit={() =>
            respond({ decision: "output", value: outputOf(typed), ...(isError ? { isError } : {}) })
          }
        >
          <label htmlFor={id} className="block text-sm font-medium">
            Output <span className="font-normal text-faint">(a text, or JSON)</span>
          </label>
          <textarea
            id={id}
            data-first=""
            dir="auto"
            rows={4}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            className={`${fieldClass} resize-y font-mono text-xs leading-relaxed`}
          />
          <label className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={isError}
              onChange={(event) => setError(event.target.checked)}
              className="size-4 accent-(--accent)"
            />
            The tool failed, and this says how
          </label>
          <div className="flex flex-wrap gap-2">
            <Button type="submit" tone="primary" disabled={isSending}>
              Hand in
            </Button>
            <KeyButton letter="escape" tone="quiet" onClick={back}>
              Back
            </KeyButton>
          </div>
        </CardForm>
      ) : (
        <div className="mt-3 flex flex-wrap gap-2">
          <KeyButton letter="e" disabled={isSending} onClick={() => setMode("hand-in")}>
            Hand the output in…
          </KeyButton>
          <KeyButton letter="d" tone="danger" disabled={isSending} onClick={() => setMode("deny")}>
            Go on without it…
          </KeyButton>
        </div>
      )}
    </>
  );
}

/** Parses JSON; returns the text itself if it is not JSON. */
function outputOf(typed: string): JsonValue {
  return parseArguments(typed) ?? typed;
}

import { useClient } from "@parley/client/react";
import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../ui/button.js";
import { fieldClass } from "../../ui/text/text-field.js";
import { formatTokens } from "../figures/figures.js";
import { inspectorQueries, thresholdKey } from "../inspector-queries.js";
import { ProblemNote } from "../problem-note.js";

export interface ThresholdFieldProps {
  readonly conversationId: string;
  /** Tokens; 0 for by hand only, null for the default. */
  readonly threshold: number | null;
  /** The default in tokens, if it is known. */
  readonly byDefault: number | undefined;
}

type Choice = "default" | "tokens" | "manual";

/** Chooses when the conversation is compacted automatically. */
export function ThresholdField({ conversationId, threshold, byDefault }: ThresholdFieldProps) {
  const client = useClient();
  const id = useId();
  const stored = choiceOf(threshold, byDefault);
  const [choice, setChoice] = useState<Choice>(stored);
  const [tokens, setTokens] = useState(String(threshold || byDefault || 100_000));
  const save = useMutation(
    {
      mutationFn: (compactThreshold: number | null) =>
        client.request("PUT /conversations/:id/compact-threshold", {
          params: { id: conversationId },
          body: { compactThreshold },
        }),
      onSuccess: (setting) =>
        inspectorQueries.setQueriesData({ queryKey: thresholdKey(conversationId) }, setting),
    },
    inspectorQueries,
  );
  const count = Number(tokens);
  const isValid = Number.isSafeInteger(count) && count > 0;
  const choose = (next: Choice) => {
    setChoice(next);
    if (next === "default") save.mutate(null);
    if (next === "manual") save.mutate(0);
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <label htmlFor={`${id}-when`} className="text-sm text-faint">
          By itself
        </label>
        <select
          id={`${id}-when`}
          value={choice}
          onChange={(event) => choose(event.target.value as Choice)}
          className={`${fieldClass} w-auto min-w-0 flex-1`}
        >
          <option value="default">{defaultText(byDefault)}</option>
          <option value="tokens">At a number of tokens</option>
          <option value="manual">Never</option>
        </select>
      </div>
      {choice === "tokens" && (
        <form
          className="flex items-center gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (isValid) save.mutate(count);
          }}
        >
          <label htmlFor={`${id}-tokens`} className="sr-only">
            Tokens at which it is compacted
          </label>
          <input
            id={`${id}-tokens`}
            inputMode="numeric"
            value={tokens}
            aria-invalid={!isValid || undefined}
            onChange={(event) => setTokens(event.target.value)}
            className={`${fieldClass} tabular min-w-0 flex-1`}
          />
          <Button type="submit" disabled={!isValid || save.isPending || count === threshold}>
            Set
          </Button>
        </form>
      )}
      {save.isError && <ProblemNote title="The threshold was not changed." error={save.error} />}
    </div>
  );
}

function defaultText(byDefault: number | undefined): string {
  if (byDefault === undefined) return "As the server does by default";
  return byDefault === 0
    ? "Never, as the server does by default"
    : `At ${formatTokens(byDefault)} tokens, the default`;
}

/** Returns the choice for a threshold. A server may return the default that it would use instead of null. */
function choiceOf(threshold: number | null, byDefault: number | undefined): Choice {
  if (threshold === null || threshold === byDefault) return "default";
  return threshold === 0 ? "manual" : "tokens";
}

import { useClient } from "@parley/client/react";
import { webhookRequests } from "@parley/client/webhooks";
import type { WebhookEventType } from "@parley/wire";
import { type FormEvent, useId, useState } from "react";
import { Button } from "../ui/button.js";
import { TextField } from "../ui/text/text-field.js";

const eventWords: readonly { readonly type: WebhookEventType; readonly words: string }[] = [
  { type: "input.requested", words: "A turn asks for approval or an answer" },
  { type: "input.answered", words: "A request was decided" },
  { type: "turn.sealed", words: "A turn has ended" },
  { type: "conversation.created", words: "A conversation was made" },
];

export interface WebhookFormProps {
  /** Called with the secret of the new endpoint. */
  readonly onAdded: (secret: string) => void;
}

/** Registers an endpoint. */
export function WebhookForm({ onAdded }: WebhookFormProps) {
  const client = useClient();
  const groupId = useId();
  const [url, setUrl] = useState("");
  const [label, setLabel] = useState("");
  const [events, setEvents] = useState<readonly WebhookEventType[]>(["input.requested"]);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      const { secret = "" } = await webhookRequests(client.request).add({
        url: url.trim(),
        label: label.trim(),
        events,
      });
      setProblem(undefined);
      setUrl("");
      setLabel("");
      onAdded(secret);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setIsBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void add(event)} className="mt-5 space-y-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">Add a webhook</h3>
      <TextField
        label="Address"
        type="url"
        required
        dir="ltr"
        placeholder="https://example.com/parley"
        value={url}
        problem={problem}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextField
        label="Label"
        maxLength={200}
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      <fieldset aria-labelledby={groupId} className="space-y-1.5">
        <legend id={groupId} className="text-sm font-medium">
          Events
        </legend>
        {eventWords.map(({ type, words }) => (
          <label key={type} className="flex items-center gap-2 text-sm touch:min-h-11">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={events.includes(type)}
              onChange={({ target }) =>
                setEvents(target.checked ? [...events, type] : events.filter((each) => each !== type))
              }
            />
            <span>{words}</span> <code className="text-xs text-faint">{type}</code>
          </label>
        ))}
      </fieldset>
      <div className="flex justify-end">
        <Button tone="primary" type="submit" disabled={isBusy || events.length === 0}>
          Add
        </Button>
      </div>
    </form>
  );
}

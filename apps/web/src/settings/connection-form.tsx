import { connectionRequests } from "@parley/client/connections";
import { useClient } from "@parley/client/react";
import type { ConnectionInfo, ConnectionKind } from "@parley/wire";
import { type FormEvent, useState } from "react";
import { Button } from "../ui/button.js";
import { TextField } from "../ui/text/text-field.js";
import { ChoiceGroup } from "./choice-group.js";

export interface ConnectionFormProps {
  readonly kinds: readonly ConnectionKind[];
  readonly onAdded: (connection: ConnectionInfo) => void;
}

/** Connects to a provider. The server requests its models first, so that a wrong key is found here. */
export function ConnectionForm({ kinds, onAdded }: ConnectionFormProps) {
  const client = useClient();
  const [chosen, setChosen] = useState(kinds[0]?.kind ?? "");
  const [apiKey, setApiKey] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const kind = kinds.find((each) => each.kind === chosen);
  if (kind === undefined) return null;

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setProblem(undefined);
    try {
      const added = await connectionRequests(client.request).add({
        kind: kind.kind,
        ...ifFilled("apiKey", apiKey),
        ...ifFilled("baseUrl", baseUrl),
        ...ifFilled("name", name),
      });
      setApiKey("");
      setBaseUrl("");
      setName("");
      onAdded(added);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setIsBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void add(event)} className="mt-5 space-y-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">Connect a provider</h3>
      <ChoiceGroup
        label="Provider"
        value={kind.kind}
        choices={kinds.map(({ kind: value, title }) => ({ value, label: title }))}
        onChange={setChosen}
      />
      {kind.baseUrl === "required" && (
        <TextField
          label="Address"
          type="url"
          dir="ltr"
          required
          placeholder={kind.usualBaseUrl}
          value={baseUrl}
          onChange={({ target }) => setBaseUrl(target.value)}
        />
      )}
      <TextField
        label={kind.key === "required" ? "API key" : "API key (optional)"}
        type="password"
        autoComplete="off"
        dir="ltr"
        required={kind.key === "required"}
        hint="Stored encrypted on the server, and never shown again."
        value={apiKey}
        problem={problem}
        onChange={({ target }) => setApiKey(target.value)}
      />
      <details className="text-sm">
        <summary className="cursor-pointer text-xs text-soft">More</summary>
        <div className="mt-2 space-y-3">
          <TextField
            label="Name"
            hint="The first part of its models' names. Leave empty for the provider's name."
            maxLength={64}
            dir="ltr"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          {kind.baseUrl === "optional" && (
            <TextField
              label="Another address"
              type="url"
              dir="ltr"
              placeholder={kind.usualBaseUrl}
              value={baseUrl}
              onChange={({ target }) => setBaseUrl(target.value)}
            />
          )}
        </div>
      </details>
      <div className="flex justify-end">
        <Button tone="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Connecting" : "Connect"}
        </Button>
      </div>
    </form>
  );
}

function ifFilled<Name extends string>(name: Name, text: string): { readonly [Key in Name]?: string } {
  const typed = text.trim();
  return typed === "" ? {} : ({ [name]: typed } as { readonly [Key in Name]?: string });
}

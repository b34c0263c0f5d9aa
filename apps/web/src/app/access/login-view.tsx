import type { ParleyClient } from "@parley/client";
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.js";
import { TextField } from "../../ui/text/text-field.js";
import { login } from "./access.js";

/** Asks for an API key. The key is exchanged for a cookie that scripts cannot read, and is stored nowhere else. */
export function LoginView({ client }: { readonly client: ParleyClient }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === "") {
      setProblem("Paste a key first.");
      return;
    }
    setBusy(true);
    setProblem(await login(client, key.trim()));
    setBusy(false);
  };
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto p-6">
      <form onSubmit={submit} className="w-full max-w-sm space-y-5" noValidate>
        <div>
          <h1 className="text-xl font-semibold">Log in to Parley</h1>
          <p className="mt-1 text-sm text-soft">
            This server asks for an API key. It makes one with{" "}
            <code className="font-mono">parley keys create</code>.
          </p>
        </div>
        <TextField
          label="API key"
          type="password"
          autoComplete="current-password"
          placeholder="pk_…"
          value={key}
          autoFocus
          onChange={(event) => setKey(event.target.value)}
          problem={problem}
          hint="Used once, to log in. The key itself is not stored."
        />
        <Button type="submit" tone="primary" className="w-full" disabled={busy}>
          {busy ? "Logging in" : "Log in"}
        </Button>
      </form>
    </main>
  );
}

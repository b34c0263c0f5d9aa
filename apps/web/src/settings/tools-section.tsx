import { useClient } from "@parley/client/react";
import type { ToolInfo, ToolServerInfo } from "@parley/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { safeHref } from "../conversation/markdown/safe-link.js";
import { DataText } from "../input/data-text.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { Skeleton } from "../ui/loading/skeleton.js";

/** The tools that a turn may be offered, and the servers that they come from. */
export function ToolsSection() {
  const client = useClient();
  const tools = useQuery(
    {
      queryKey: ["tools"],
      queryFn: ({ signal }) => client.request("GET /tools", { signal }),
      staleTime: 0,
      // A server that connects, fails or comes back shows without a reload.
      refetchInterval: 5_000,
    },
    inspectorQueries,
  );
  if (tools.isPending) return <Skeleton className="h-40 w-full" />;
  if (tools.isError) {
    return (
      <ProblemNote
        title="The tools could not be read."
        error={tools.error}
        onRetry={() => void tools.refetch()}
      />
    );
  }
  const { tools: all, servers = [] } = tools.data;
  return (
    <>
      <h3 className="mb-2 text-sm font-semibold">MCP servers</h3>
      {servers.length === 0 ? (
        <p className="mb-6 text-sm text-soft">
          None. They are named in the server’s configuration file under <code>mcpServers</code>.
        </p>
      ) : (
        <ul className="mb-6 divide-y divide-line rounded-lg border border-line">
          {servers.map((server) => (
            <ServerEntry key={server.name} server={server} onChanged={() => void tools.refetch()} />
          ))}
        </ul>
      )}
      <div className="mb-2 flex items-center justify-between">
        <h3 className="text-sm font-semibold">{all.length === 1 ? "1 tool" : `${all.length} tools`}</h3>
        <Button size="small" onClick={() => void tools.refetch()} disabled={tools.isFetching}>
          Refresh
        </Button>
      </div>
      {all.length === 0 ? (
        <p className="text-sm text-soft">This server has no tools.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {all.map((tool) => (
            <ToolEntry key={tool.name} tool={tool} />
          ))}
        </ul>
      )}
    </>
  );
}

const stateTones = { ready: "good", connecting: "plain", failed: "danger", unconnected: "warn" } as const;

function ServerEntry({
  server,
  onChanged,
}: {
  readonly server: ToolServerInfo;
  readonly onChanged: () => void;
}) {
  const { name, transport, state, tools, problem, auth } = server;
  const tone = state in stateTones ? stateTones[state as keyof typeof stateTones] : "warn";
  return (
    <li className="px-3 py-2.5 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">
          <DataText text={name.slice(0, 200)} />
        </span>
        <span className="text-xs text-faint">
          {transport === "stdio" ? "local process" : "HTTP"}
          {state === "ready" && `, ${tools === 1 ? "1 tool" : `${tools} tools`}`}
        </span>
        <Badge tone={tone}>{state === "unconnected" ? "needs your login" : state}</Badge>
        {auth !== undefined && <LoginButton server={server} onChanged={onChanged} />}
      </div>
      {problem !== undefined && (
        <p className="mt-1 text-xs break-words text-danger">
          <DataText text={problem.slice(0, 500)} />
        </p>
      )}
    </li>
  );
}

/** Logs in at a tool server, in a new tab, or out again. The list updates by itself when that is done. */
function LoginButton({
  server: { name, state },
  onChanged,
}: {
  readonly server: ToolServerInfo;
  readonly onChanged: () => void;
}) {
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [address, setAddress] = useState<string>();
  const params = { server: name };
  const run = async (failure: string, work: () => Promise<void>) => {
    setIsBusy(true);
    try {
      await work();
      onChanged();
    } catch (error) {
      reportFailure(failure, error);
    } finally {
      setIsBusy(false);
    }
  };
  const connect = () =>
    run("The login could not be begun", async () => {
      const { authorizationUrl } = await client.request("POST /tools/:server/connect", { params, body: {} });
      const safe = safeHref(authorizationUrl);
      if (safe === undefined)
        throw new Error("The server returned an address that is not one of a web page.");
      // If the browser blocks new tabs, a link is shown instead.
      setAddress(window.open(safe, "_blank", "noopener") === null ? safe : undefined);
    });
  const disconnect = () =>
    run("Not disconnected", async () => {
      await client.request("POST /tools/:server/disconnect", { params });
      setAddress(undefined);
    });
  if (state !== "unconnected") {
    return (
      <Button size="small" tone="quiet" disabled={isBusy} onClick={() => void disconnect()}>
        Disconnect
      </Button>
    );
  }
  return address === undefined ? (
    <Button size="small" tone="primary" disabled={isBusy} onClick={() => void connect()}>
      Log in
    </Button>
  ) : (
    <a
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      className="rounded-sm text-sm text-accent underline"
    >
      Open the login page
    </a>
  );
}

const approvalWords: Readonly<Record<string, string>> = {
  never: "runs without asking",
  once: "asks once per conversation",
  always: "asks every time",
  policy: "decides for each call whether to ask",
};

const originWords: Readonly<Record<string, string>> = {
  builtin: "built in",
  host: "of this server",
  mcp: "from an MCP server",
  caller: "of the caller",
};

function ToolEntry({ tool }: { readonly tool: ToolInfo }) {
  const { name, description = "", origin, approval, schema } = tool;
  return (
    <li className="px-3 py-2.5 text-sm">
      <p className="font-mono text-[0.8125rem] font-medium break-words">
        <DataText text={name.slice(0, 200)} />
      </p>
      <p className="text-xs text-faint">
        {originWords[origin] ?? origin}, {approvalWords[approval] ?? approval}
      </p>
      {(description !== "" || schema !== undefined) && (
        <details className="mt-1">
          <summary className="cursor-pointer text-xs text-soft">
            <DataText text={firstLine(description)} />
          </summary>
          <pre className="mt-1 max-h-64 overflow-auto rounded-md bg-sunken p-2 text-xs whitespace-pre-wrap">
            <DataText
              text={`${description.slice(0, 4_000)}${schema === undefined ? "" : `\n\n${JSON.stringify(schema, null, 2).slice(0, 8_000)}`}`.trim()}
            />
          </pre>
        </details>
      )}
    </li>
  );
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line === "" ? "Arguments" : line.slice(0, 160);
}

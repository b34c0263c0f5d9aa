import { invalidField } from "@parley/core/errors";
import type { Secrets, Wake } from "@parley/core/ports";
import {
  type ConnectionProviders,
  type ModelBinding,
  type ModelConnections,
  openModelConnections,
} from "@parley/core/runtime";
import { omitUndefined } from "@parley/fold";
import { createNodeTransport, GuardedRequestError, guardedRefusal, requestGuarded } from "@parley/http/node";
import type { ConnectionInfo, ConnectionKind, ConnectionModel, ConnectionSettings } from "@parley/wire";
import type { Config, ResolvedCredential } from "../config/config.js";
import { usualModels } from "../config/environment-credentials.js";
import { connectionAddresses } from "./connection-addresses.js";
import { bindModels, type ComposedModels } from "./models.js";
import { listRemoteModels, type RemoteCredential, usualUrl } from "./remote-models.js";

/** Timeout for a provider's list of models, and the most bytes that are read of it. */
const discovery = { timeoutMs: 10_000, maxBytes: 8_000_000 };

const kinds: readonly (ConnectionKind & { readonly kind: RemoteCredential["kind"] })[] = [
  { kind: "openai", title: "OpenAI", key: "required", baseUrl: "optional", usualBaseUrl: usualUrl.openai },
  {
    kind: "anthropic",
    title: "Anthropic",
    key: "required",
    baseUrl: "optional",
    usualBaseUrl: usualUrl.anthropic,
  },
  {
    kind: "compatible",
    title: "OpenAI-compatible (Ollama, vLLM, LM Studio, OpenRouter and others)",
    key: "optional",
    baseUrl: "required",
    usualBaseUrl: "http://127.0.0.1:11434/v1",
  },
];

/** The dependencies of connections. */
export interface ConnectionParts {
  readonly config: Config;
  readonly models: ComposedModels;
  readonly secrets: Secrets;
  readonly wake: Wake;
  /** True if other processes may have the store open, too. */
  readonly isShared: boolean;
  onError?: Parameters<typeof openModelConnections>[0]["onError"];
}

/** The connections of a node: those of the configuration, and those that are added while it runs. */
export async function composeConnections(parts: ConnectionParts): Promise<ModelConnections> {
  const { config, models, secrets, wake, isShared } = parts;
  const { credentialsFrom, defaultModel } = config;
  const configured = [...config.credentials].map(([name, credential]) => {
    const bindings = models.credentials.get(name) ?? [];
    const info: ConnectionInfo = {
      name,
      kind: credential.kind,
      source: credentialsFrom === "environment" ? "environment" : "file",
      ...(credential.baseUrl === undefined ? {} : { baseUrl: shownUrl(credential.baseUrl) }),
      hasKey: credential.apiKey !== undefined,
      models: bindings.map(shownModel),
    };
    const discover = isRemote(credential) ? { discover: () => listRemoteModels(credential, discovery) } : {};
    return { info, bindings, ...discover };
  });
  const demo: ConnectionInfo = {
    name: "demo",
    kind: "demo",
    source: "built-in",
    hasKey: false,
    models: models.demo.map(shownModel),
  };
  return openModelConnections({
    secrets,
    providers: connectionProviders(config),
    configured,
    configuredIn:
      credentialsFrom === "environment" ? "the environment" : `the configuration ${config.file ?? ""}`.trim(),
    builtIn: { info: demo, bindings: models.demo },
    wake,
    ...(isShared ? {} : { pollMs: 0 }),
    ...omitUndefined({ defaultModel, onError: parts.onError }),
  });
}

function shownModel({ model: name, contextWindow }: ModelBinding): ConnectionModel {
  return { name, contextWindow };
}

/** An address without anything that may be secret. */
function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

function isRemote(credential: ResolvedCredential): credential is RemoteCredential {
  return kinds.some(({ kind }) => kind === credential.kind);
}

/** The providers that connections can be made to. Every request to them is checked for where it leads. */
function connectionProviders(config: Config): ConnectionProviders {
  const isAllowedAddress = connectionAddresses(config);
  const transport = createNodeTransport({ isAllowedAddress });
  return {
    kinds,
    check({ baseUrl }) {
      if (baseUrl === undefined) return;
      const refusal = guardedRefusal(baseUrl, isAllowedAddress) ?? inUrl(baseUrl);
      if (refusal !== undefined) throw invalidField("baseUrl", withAdvice(refusal));
    },
    async discover(settings) {
      const credential = credentialOf(settings);
      let refused: GuardedRequestError | undefined;
      const listed = await listRemoteModels(credential, {
        timeoutMs: discovery.timeoutMs,
        fetch: (url, init) =>
          guardedFetch(String(url), init, isAllowedAddress).catch((error: unknown) => {
            if (error instanceof GuardedRequestError) refused = error;
            throw error;
          }),
      });
      if ("models" in listed) return { models: chatModels(credential.kind, listed.models) };
      if (refused?.kind === "address")
        return { problem: withAdvice(refused.message), code: "invalid_request" };
      return { problem: listed.problem, code: listed.code };
    },
    bind: (name, settings, models) =>
      bindModels(name, { ...credentialOf(settings), models: [...models] }, [], transport),
  };
}

function inUrl(text: string): string | undefined {
  const { search, hash } = new URL(text);
  return search === "" && hash === "" ? undefined : "must have neither a query nor a fragment";
}

function withAdvice(refusal: string): string {
  if (!/not (a )?public/.test(refusal)) return refusal;
  return `${refusal}. To let connections lead there, set connections.privateAddresses in the configuration`;
}

function credentialOf({ kind, baseUrl, apiKey }: ConnectionSettings): RemoteCredential {
  return { kind, ...omitUndefined({ baseUrl, apiKey }) } as RemoteCredential;
}

/** `fetch` for lists: bounded, without redirects, and to allowed addresses alone. */
async function guardedFetch(
  url: string,
  init: RequestInit | undefined,
  isAllowedAddress: (address: string) => boolean,
): Promise<Response> {
  const { status, body, isCut } = await requestGuarded({
    url,
    method: "GET",
    headers: { accept: "application/json", ...(init?.headers as Record<string, string>) },
    timeoutMs: discovery.timeoutMs,
    maxBytes: discovery.maxBytes,
    signal: init?.signal ?? new AbortController().signal,
    isAllowedAddress,
  });
  const isBare = status === 204 || status === 205 || status === 304;
  return new Response(isBare || isCut ? null : Buffer.from(body), { status: status < 200 ? 502 : status });
}

/** Names of models that answer in a conversation, and those that do something else. */
const chatName = /^(gpt-|chatgpt-|o\d)/;
const otherName = /(audio|realtime|transcribe|tts|image|instruct|search|embedding|moderation)/;

/** A list that also holds models for other purposes is cut down to those for conversations, the usual ones first. */
function chatModels(kind: RemoteCredential["kind"], models: readonly ConnectionModel[]): ConnectionModel[] {
  if (kind !== "openai") return [...models];
  const chat = models.filter(({ name }) => chatName.test(name) && !otherName.test(name));
  if (chat.length === 0) return [...models];
  const usual = usualModels.openai.flatMap((name) => chat.find((model) => model.name === name) ?? []);
  return [...usual, ...chat.filter((model) => !usual.includes(model))];
}

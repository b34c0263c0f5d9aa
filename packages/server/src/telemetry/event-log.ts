import { omitUndefined } from "@parley/core/messages";
import type { EventContext, RuntimeHooks, TurnTakeover } from "@parley/core/runtime";
import type { AgentEvent } from "@parley/wire";
import type { Logger } from "pino";

/** Hooks that log failures of turns where they happen. */
export interface EventLog {
  /** Logs turns and tools that failed: give it to `createRuntime` as `hooks.onEvent`. */
  readonly onEvent: (event: AgentEvent, context: EventContext) => void;
  /** Logs turns that this node took over: give it to `createRuntime` as `hooks.onTakeover`. */
  readonly onTakeover: (takeover: TurnTakeover) => void;
  /** Logs what was learned about a model's window: give it to `createRuntime` as `hooks.onWindowChange`. */
  readonly onWindowChange: NonNullable<RuntimeHooks["onWindowChange"]>;
}

/** Logs failures with their code and the ids that lead to them. Never logs message content, nor text of providers or tools. */
export function createEventLog(logger: Logger): EventLog {
  return {
    onEvent(event, { owner, conversationId, turnId, providerName, model }) {
      const ids = { owner, conversationId, turnId };
      if (event.type === "error") {
        const { code = "internal", retryable } = event;
        const line = { code, ...omitUndefined({ retryable, providerName, model }), ...ids };
        if (code === "provider_auth") logger.error(line, "the provider refused the key");
        else logger.warn(line, "turn failed");
      } else if (event.type === "tool-result" && event.isError) {
        const { toolName, toolCallId, durationMs, interrupted } = event;
        const line = { toolName, toolCallId, ...omitUndefined({ durationMs, interrupted }), ...ids };
        logger.warn(line, "tool failed");
      }
    },
    onTakeover: (takeover) => logger.info({ ...takeover }, "took over a turn that no node was running"),
    onWindowChange: (change) => logger.info({ ...change }, "context window changed"),
  };
}

import type { DoctorResponse, Finding } from "@parley/wire";
import { toParleyError } from "../../errors.js";
import type { Uses } from "../environment.js";

/**
 * Returns the findings of the store's check, and those of the runtime itself. A store that does not answer is a
 * finding.
 */
export async function examineRuntime(
  env: Uses<"root" | "models" | "toolSource" | "connections" | "examiners">,
  fix: boolean,
): Promise<DoctorResponse> {
  const findings: Finding[] = [];
  try {
    findings.push(...(await env.root.examine({ fix })));
  } catch (error) {
    const { code, message } = toParleyError(error);
    findings.push({
      area: "store",
      level: "error",
      message: `The store cannot be examined: ${message} (${code})`,
      advice: "See that the database runs and can be reached from here",
    });
  }
  findings.push(modelFinding(env), ...connectionFindings(env), ...toolServerFindings(env));
  for (const examiner of env.examiners) findings.push(...(await examineHost(examiner)));
  return { healthy: findings.every(({ level, fixed }) => level !== "error" || fixed === true), findings };
}

function modelFinding({ models }: Uses<"models">): Finding {
  const { models: names, defaultModel } = models.list();
  if (names.length === 0) {
    return {
      area: "models",
      level: "error",
      message: "No model is configured: every turn will fail",
      advice: "Configure a provider, or set its key in the environment",
    };
  }
  const chosen = defaultModel === undefined ? "" : `; ${defaultModel} answers where none is named`;
  return { area: "models", level: "ok", message: `Models configured: ${names.length}${chosen}` };
}

/** Returns findings for stored connections that cannot be used. */
function connectionFindings({ connections }: Uses<"connections">): Finding[] {
  return (connections?.problems() ?? []).map(({ name, problem }) => ({
    area: "models",
    level: "warning",
    message: `The connection ${name} cannot be used: ${problem}`,
    advice: "Its models are absent until it can; change it or remove it: `parley connect`",
  }));
}

async function examineHost(examiner: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await examiner();
  } catch (error) {
    const { code, message } = toParleyError(error);
    return [{ area: "host", level: "error", message: `${message} (${code})` }];
  }
}

function toolServerFindings({ toolSource }: Uses<"toolSource">): Finding[] {
  return (toolSource?.servers() ?? []).map(({ name, state, tools, problem, auth }) =>
    state === "ready" || auth !== undefined
      ? {
          area: "tools",
          level: "ok",
          message: `MCP server ${name}: ${auth === undefined ? `${tools} tools` : "each owner logs in there"}`,
        }
      : {
          area: "tools",
          level: "warning",
          message: `MCP server ${name} is not connected${problem === undefined ? " yet" : `: ${problem}`}`,
          advice: "Its tools are absent until it is; see `mcpServers` in the configuration",
        },
  );
}

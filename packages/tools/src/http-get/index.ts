import { type Tool, toolOutput } from "@parley/core/turn";
import { type FetchLimits, getPublic } from "./get-public.js";

export interface HttpGetOptions extends FetchLimits {
  /** Hosts that may be requested, such as `example.com`; `*.example.com` also allows its subdomains. */
  readonly allow: readonly string[];
}

/**
 * Creates a tool that lets the model read pages of allowed hosts. Nothing else is reached: every redirect is
 * checked again, and a name that resolves to a private address is refused, at the moment of connecting, so
 * that it cannot change in between.
 */
export function httpGetTool(options: HttpGetOptions): Tool<{ url: string }> {
  const allowed = (host: string) => options.allow.some((pattern) => matches(pattern, host));
  return {
    name: "http_get",
    description: `Fetches a page by HTTPS or HTTP and returns its text. Only these hosts: ${options.allow.join(", ")}.`,
    recovery: "retry",
    schema: {
      type: "object",
      properties: { url: { type: "string", maxLength: 2_000 } },
      required: ["url"],
      additionalProperties: false,
    },
    async execute({ url }, { signal }) {
      const answer = await getPublic(url, allowed, options, signal);
      const head = `${answer.status} ${answer.url}\n\n`;
      return answer.status < 400 ? `${head}${answer.text}` : toolOutput(`${head}${answer.text}`, true);
    },
  };
}

function matches(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  const asked = host.toLowerCase().replace(/\.$/, "");
  if (!wanted.startsWith("*.")) return asked === wanted;
  return asked === wanted.slice(2) || asked.endsWith(wanted.slice(1));
}

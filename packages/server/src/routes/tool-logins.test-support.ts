import { ParleyError } from "@parley/core";
import type { FinishLogin, LoginReturn, ToolSource } from "@parley/core/turn";

/** A source with one server that owners log in at, which records its calls. */
export class GivenLogins implements ToolSource {
  readonly asked: unknown[] = [];
  readonly owners = new Set<string>();
  readonly logins = {
    start: async (owner: string, server: string, options: object) => {
      this.asked.push(["start", owner, server, options]);
      return { authorizationUrl: "https://login.example/authorize?state=s", expiresAt: 1 };
    },
    finish: async (returned: LoginReturn, by: FinishLogin) => {
      this.asked.push(["finish", returned, by]);
      if (returned.state !== "s") throw new ParleyError("invalid_request", "This login is not known");
      return { owner: "ann", server: "tracker" };
    },
    disconnect: async (owner: string, server: string) => {
      this.asked.push(["disconnect", owner, server]);
      return true;
    },
  };
  tools = () => [];
  servers = (owner?: string) =>
    [
      {
        name: "tracker",
        transport: "http",
        state: owner !== undefined && this.owners.has(owner) ? "ready" : "unconnected",
        tools: 0,
        auth: "oauth",
      },
    ] as const;
  async ready(owner: string) {
    if (owner === "ann") this.owners.add(owner);
  }
  close = async () => {};
}

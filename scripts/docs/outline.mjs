// The order of the site. Every page of docs/ has its place here: one that has none fails the build.

/** Folders whose pages are listed in one place each. */
export const listed = ["decisions", "api"];

export const outline = [
  {
    text: "Start",
    items: [
      ["What Parley is", "index"],
      ["Install", "guides/install"],
      ["The page", "guides/page"],
      ["Command line", "guides/cli"],
      ["Configuration", "guides/configuration"],
    ],
  },
  {
    text: "Concepts",
    items: [
      ["Architecture", "architecture"],
      ["Glossary", "glossary"],
      ["Context windows", "guides/context-windows"],
      ["Approvals and questions", "guides/approvals"],
      ["Usage and cost", "guides/usage"],
      ["Decisions", "decisions/"],
    ],
  },
  {
    text: "Guides",
    items: [
      ["Server", "guides/server"],
      ["Client and React", "guides/client"],
      ["Files", "guides/files"],
      ["Tools and MCP servers", "guides/tools"],
      ["Data instead of text", "guides/structured-output"],
      ["Connections to providers", "guides/connections"],
      ["Webhooks", "guides/webhooks"],
      ["Stores", "guides/stores"],
      ["Shards", "guides/shards"],
      ["High availability", "guides/high-availability"],
      ["Your own store", "guides/own-store"],
      ["Your own provider", "guides/own-provider"],
    ],
  },
  {
    text: "Faces",
    items: [
      ["OpenAI's API", "guides/openai-api"],
      ["AI SDK's useChat", "guides/ai-sdk-ui"],
      ["Parley as an MCP server", "guides/mcp-server"],
    ],
  },
  {
    text: "Operation",
    items: [
      ["Overview", "operation/"],
      ["Install a server", "operation/install"],
      ["Reverse proxies", "operation/reverse-proxy"],
      ["Backup and restore", "operation/backup"],
      ["Upgrade and roll back", "operation/upgrade"],
      ["Keys lost and found", "operation/keys"],
      ["Logs, figures and alerts", "operation/monitoring"],
    ],
  },
  {
    text: "Reference",
    items: [
      ["API by package", "api/"],
      ["Seed names", "seed-names"],
      ["Protocol", "protocol"],
      ["Changes", "changelog"],
    ],
  },
  {
    text: "Proof and scale",
    items: [
      ["Proof", "proof"],
      ["Replay matrix", "replay-matrix"],
      ["Scale", "scale"],
      ["Measurements", "measurements"],
    ],
  },
  {
    text: "Contribute",
    items: [
      ["Contributing", "contributing"],
      ["Map and recipes", "recipes"],
      ["Security", "security"],
    ],
  },
];

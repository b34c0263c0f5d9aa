import { defineConfig } from "@parley/cli/config";

export default defineConfig({
  // The log of this project: an embedded PostgreSQL. For a server: { url: process.env.DATABASE_URL }.
  store: { folder: ".parley" },
  // The built page that `parley serve` serves, and where it is served while you change it (`npm run dev`).
  page: "dist",
  origins: ["http://localhost:5173"],
  instructions: "You are a helpful assistant.",
  tools: { time: true, calculator: true },
  // Without models, OPENAI_API_KEY and ANTHROPIC_API_KEY are used, or the demo model. Your own:
  // models: {
  //   openai: { kind: "openai", models: ["gpt-5.1"] },
  //   local: { kind: "compatible", baseUrl: "http://127.0.0.1:11434/v1" },
  // },
});

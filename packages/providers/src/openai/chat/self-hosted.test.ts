import { describe, expect, it } from "vitest";
import { isSelfHosted } from "./self-hosted.js";

describe("a self-hosted server", () => {
  it.each([
    "http://127.0.0.1:11434/v1",
    "http://localhost/v1",
    "http://[::1]:9000/v1",
    "http://192.168.1.20:9999/v1",
    "http://172.20.0.3/v1",
    "http://ollama:11434/v1",
    "http://vllm/v1",
    "http://gpu.lan/v1",
    "https://llm.example.com:8000/v1",
  ])("is recognized by its address: %s", (url) => {
    expect(isSelfHosted(url)).toBe(true);
  });

  it.each([
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://api.deepseek.com",
    "http://172.32.0.1/v1",
    "http://11.0.0.1/v1",
    "not an address",
  ])("is not a service: %s", (url) => {
    expect(isSelfHosted(url)).toBe(false);
  });
});

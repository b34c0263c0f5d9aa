import type { ProviderFile } from "@parley/core/ports";
import { describe, expect, it } from "vitest";
import { AnthropicProviderAdapter } from "../anthropic/index.js";
import { anthropicImageTokens } from "../anthropic/request/file-rules.js";
import { openAIImageTokens } from "../openai/file-rules.js";
import { createOpenAIHttpClient, OpenAIChatProviderAdapter, OpenAIProviderAdapter } from "../openai/index.js";

const megabyte = 2 ** 20;
const image = (more: Partial<ProviderFile> = {}): ProviderFile => ({
  mediaType: "image/png",
  size: 1_000,
  width: 1_024,
  height: 1_024,
  ...more,
});

const responses = new OpenAIProviderAdapter({
  client: createOpenAIHttpClient({ apiKey: "" }),
  defaultModel: "gpt-4o",
});
const anthropic = new AnthropicProviderAdapter({ apiKey: "", defaultModel: "claude-opus-5" });
const chat = (more: object = {}) =>
  new OpenAIChatProviderAdapter({ baseUrl: "http://127.0.0.1:1/v1", defaultModel: "llava", ...more });

describe("a file that a model may accept", () => {
  it("is an image, a document or a text, by its type", () => {
    expect(responses.takesFile(image(), "gpt-4o")).toEqual({ as: "image", tokens: 765 });
    expect(anthropic.takesFile(image())).toEqual({ as: "image", tokens: 1_399 });
    const pdf = { mediaType: "application/pdf", size: 120_000 };
    expect(responses.takesFile(pdf, "gpt-4o")).toEqual({ as: "document", tokens: 9_000 });
    expect(anthropic.takesFile({ mediaType: "text/markdown", size: 300 })).toEqual({
      as: "text",
      tokens: 100,
    });
  });

  it("is omitted with a reason if the model does not accept it", () => {
    const reasonOf = (form: object) => ("reason" in form ? form.reason : form);
    expect(reasonOf(responses.takesFile(image(), "o3-mini"))).toMatch(/not accept images/);
    expect(reasonOf(chat({ sendsImages: false }).takesFile(image(), ""))).toMatch(/not accept images/);
    expect(chat().takesFile(image(), "")).toMatchObject({ as: "image" });
    expect(reasonOf(chat().takesFile({ mediaType: "application/pdf", size: 10 }, ""))).toMatch(
      /not accept PDF/,
    );
    expect(
      chat({ sendsFiles: true }).takesFile({ mediaType: "application/pdf", size: 10 }, ""),
    ).toMatchObject({
      as: "document",
    });
    expect(reasonOf(anthropic.takesFile(image({ size: 4 * megabyte })))).toMatch(/up to 3\.7 MB/);
    expect(reasonOf(anthropic.takesFile(image({ width: 9_000 })))).toMatch(/8000 pixels/);
    expect(reasonOf(anthropic.takesFile({ mediaType: "image/tiff", size: 10 }))).toMatch(/this type/);
    expect(reasonOf(anthropic.takesFile({ mediaType: "text/plain", size: 2 * megabyte }))).toMatch(/1 MB/);
    expect(reasonOf(anthropic.takesFile(image({ size: 0 })))).toMatch(/empty/);
  });
});

describe("the tokens of an image", () => {
  // The examples in the documentation.
  it.each([
    ["gpt-4o", 1_024, 1_024, 765],
    ["gpt-4o", 2_048, 4_096, 1_105],
    ["gpt-5", 1_024, 1_024, 630],
    ["o3", 1_024, 1_024, 675],
    ["gpt-4o-mini", 1_024, 1_024, 25_501],
    ["gpt-4.1-mini", 1_024, 1_024, 1_659],
    ["gpt-5-nano", 1_024, 1_024, 2_520],
    ["o4-mini", 10_000, 10_000, 2_642],
  ])("of OpenAI: %s, %i x %i", (model, width, height, tokens) => {
    expect(openAIImageTokens(model, { width, height })).toBe(tokens);
  });

  it.each([
    [200, 200, 54],
    [1_000, 1_000, 1_334],
    [1_092, 1_092, 1_590],
    [5_000, 5_000, 1_600],
  ])("of Anthropic: %i x %i", (width, height, tokens) => {
    expect(anthropicImageTokens({ width, height })).toBe(tokens);
  });

  it("are those of a large image if its size is unknown", () => {
    expect(openAIImageTokens("gpt-4o")).toBe(765);
    expect(anthropicImageTokens(undefined)).toBe(1_600);
  });
});

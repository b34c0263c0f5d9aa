// The compared versions of the SDKs: the newest, and the major version before it. Loaded by the process that
// uses one.

export const openaiLibraries = [
  { name: "openai", load: () => import("openai") },
  { name: "openai-6", load: () => import("openai-6") },
];

const loadAiSdk = async () => ({ ...(await import("ai")), ...(await import("@ai-sdk/openai")) });

/** `verb` is the function that streams. */
export const aiSdks = [
  { name: "AI SDK streamText", package: "ai", verb: "streamText", load: loadAiSdk },
  {
    name: "AI SDK streamText, low memory",
    package: "ai",
    verb: "experimental_streamTextLowMemory",
    load: loadAiSdk,
  },
  {
    name: "AI SDK 6 streamText",
    package: "ai-6",
    verb: "streamText",
    load: async () => ({ ...(await import("ai-6")), ...(await import("ai-sdk-openai-3")) }),
  },
];

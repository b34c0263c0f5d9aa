/** Returns the ids that a message names. */
export function namesIn(
  value: unknown,
): Partial<Record<"conversationId" | "messageId" | "requestId" | "surfaceId", string>> {
  if (typeof value !== "object" || value === null) return {};
  const names: Partial<Record<"conversationId" | "messageId" | "requestId" | "surfaceId", string>> = {};
  for (const name of ["conversationId", "messageId", "requestId", "surfaceId"] as const) {
    const text: unknown = Reflect.get(value, name);
    if (typeof text === "string" && text.length <= 300) names[name] = text;
  }
  return names;
}

/** Returns the type that a message claims to have. */
export function typeIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const type: unknown = Reflect.get(value, "type");
  return typeof type === "string" ? type : undefined;
}

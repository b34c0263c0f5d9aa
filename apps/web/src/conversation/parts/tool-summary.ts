/** Returns a tool's input in one line: the value if there is only one, otherwise short JSON. */
export function toolSummary(input: unknown, argumentsText?: string): string {
  if (input === null || input === undefined) return oneLine(argumentsText ?? "");
  if (typeof input !== "object") return oneLine(String(input));
  const values = Object.values(input);
  if (values.length === 0) return "";
  const only = values[0];
  if (
    values.length === 1 &&
    (typeof only === "string" || typeof only === "number" || typeof only === "boolean")
  ) {
    return oneLine(String(only));
  }
  return oneLine(
    Object.entries(input)
      .slice(0, 6)
      .map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value.slice(0, 200) : shortJson(value)}`,
      )
      .join(", "),
  );
}

/** Returns a tool's input for reading: JSON with line breaks, or what the model wrote if it is not JSON. */
export function toolInputText(input: unknown, argumentsText?: string): string {
  if (input === undefined) return argumentsText ?? "";
  try {
    return JSON.stringify(input, null, 2) ?? argumentsText ?? "";
  } catch {
    return argumentsText ?? String(input);
  }
}

/** Returns the last line that a tool printed, while it runs. */
export function lastLine(output: string): string {
  const trimmed = output.slice(-2_000).trimEnd();
  return oneLine(trimmed.slice(trimmed.lastIndexOf("\n") + 1));
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

function oneLine(text: string): string {
  const line = text.slice(0, 400).replace(/\s+/gu, " ").trim();
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}

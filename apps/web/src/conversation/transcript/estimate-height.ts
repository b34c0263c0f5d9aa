import type { Row } from "./rows.js";

/** Estimates the height of a row: good estimates keep the scroll bar from jumping when rows are measured. */
export function estimateHeight(row: Row | undefined): number {
  switch (row?.kind) {
    case "user":
      return 84 + lines(textLength(row), 64) * 26 + fileRows(row) * 168;
    case "step":
      return 24 + lines(textLength(row), 84) * 27 + row.results.length * 38 + waitingCount(row) * 220;
    case "end":
      return 40;
    case "waiting":
      return 48;
    case "summary":
      return 92;
    default:
      return 56;
  }
}

function waitingCount({ inputs }: Extract<Row, { readonly kind: "step" }>): number {
  return inputs.filter((asked) => asked?.some(({ response }) => response === undefined)).length;
}

function textLength(row: Extract<Row, { readonly message: unknown }>): number {
  let length = 0;
  for (const { chunk } of row.message.parts) {
    if (chunk.type === "text" && chunk.file === undefined) length += chunk.text.length;
  }
  return length;
}

/** About four files fit beside each other. */
function fileRows(row: Extract<Row, { readonly message: unknown }>): number {
  const files = row.message.parts.filter(({ chunk }) => chunk.type === "text" && chunk.file !== undefined);
  return Math.ceil(files.length / 4);
}

function lines(chars: number, perLine: number): number {
  return Math.min(800, Math.ceil(chars / perLine));
}

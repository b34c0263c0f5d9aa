import { lexer, type Token, type Tokens } from "marked";
import { safeText } from "./safe-text.js";
import type { Style } from "./style.js";
import { clip, textWidth } from "./text-width.js";
import { wrap } from "./wrap.js";

/** Options for rendering markdown. */
export interface MarkdownOptions {
  readonly columns: number;
  readonly style: Style;
  /** Colours code. Absent: code is shown in one colour. */
  readonly highlight?: ((code: string, language: string) => string) | undefined;
}

/** The top-level pieces of a text: paragraphs, lists, code, tables. Text that others wrote is made safe first. */
function markdownTokens(text: string): Token[] {
  return lexer(safeText(text)).filter((token) => token.type !== "space");
}

/** Markdown as lines for a terminal, with an empty line between the pieces. */
export function renderMarkdown(text: string, options: MarkdownOptions): string[] {
  return markdownTokens(text).flatMap((token, index) => [
    ...(index === 0 ? [] : [""]),
    ...renderToken(token, options),
  ]);
}

/** One top-level piece as lines. */
export function renderToken(token: Token, options: MarkdownOptions): string[] {
  const { columns, style } = options;
  switch (token.type) {
    case "heading":
      return wrap(style.bold(style.underline(inline(token.tokens, options))), { columns });
    case "code":
      return renderCode(token as Tokens.Code, options);
    case "blockquote": {
      const inner = { ...options, columns: columns - 2 };
      return blocks(token.tokens ?? [], inner).map((line) => `${style.dim("│")} ${style.italic(line)}`);
    }
    case "list":
      return renderList(token as Tokens.List, options);
    case "table":
      return renderTable(token as Tokens.Table, options);
    case "hr":
      return [style.dim("─".repeat(Math.min(columns, 40)))];
    case "html":
      return wrap(style.dim(token.raw.trimEnd()), { columns });
    default:
      return wrap(inline("tokens" in token ? token.tokens : undefined, options) || token.raw.trimEnd(), {
        columns,
      });
  }
}

function blocks(tokens: readonly Token[], options: MarkdownOptions): string[] {
  return tokens
    .filter((token) => token.type !== "space")
    .flatMap((token, index) => [...(index === 0 ? [] : [""]), ...renderToken(token, options)]);
}

/** Code keeps its lines and its spaces; a line that is too long goes on below, set off by its indent. */
function renderCode({ text, lang }: Tokens.Code, { columns, style, highlight }: MarkdownOptions): string[] {
  const language = lang?.trim().split(/\s/)[0] ?? "";
  const coloured = language !== "" && highlight !== undefined ? highlight(text, language) : style.cyan(text);
  return coloured
    .split("\n")
    .flatMap((line) => wrap(line, { columns, first: "    ", rest: "      ", indent: 6 }));
}

function renderList(list: Tokens.List, options: MarkdownOptions): string[] {
  const start = typeof list.start === "number" ? list.start : 1;
  const widest = list.ordered ? String(start + list.items.length - 1).length + 1 : 1;
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${start + index}.`.padStart(widest) : "•";
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const indent = widest + 1;
    const lines = itemLines(item, { ...options, columns: options.columns - indent - 2 });
    const shown = lines.map((line, place) =>
      place === 0
        ? `  ${options.style.dim(mark)} ${box}${line}`
        : line === ""
          ? ""
          : `  ${" ".repeat(indent)}${line}`,
    );
    return index > 0 && list.loose ? ["", ...shown] : shown;
  });
}

/** A list within an item stands right below its text. */
function itemLines(item: Tokens.ListItem, options: MarkdownOptions): string[] {
  const tokens = item.tokens.filter(({ type }) => type !== "space" && type !== "checkbox");
  return tokens.flatMap((token, index) => [
    ...(index > 0 && item.loose && token.type !== "list" ? [""] : []),
    ...renderToken(token, options),
  ]);
}

function renderTable(token: Tokens.Table, options: MarkdownOptions): string[] {
  const { columns, style } = options;
  const rows = [token.header, ...token.rows].map((cells) => cells.map((cell) => plain(cell.tokens)));
  const count = token.header.length;
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => textWidth(row[column] ?? ""))),
  );
  const frame = 3 * count + 1;
  while (widths.reduce((sum, width) => sum + width, frame) > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= 4) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const rule = (left: string, middle: string, right: string) =>
    style.dim(`${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`);
  const line = (row: readonly string[], paint: (text: string) => string) => {
    const cells = widths.map((width, column) => {
      const text = clip(row[column] ?? "", width);
      const space = width - textWidth(text);
      const align = token.align[column];
      const before = align === "right" ? space : align === "center" ? Math.floor(space / 2) : 0;
      return `${" ".repeat(before)}${paint(text)}${" ".repeat(space - before)}`;
    });
    const edge = style.dim("│");
    return `${edge} ${cells.join(` ${edge} `)} ${edge}`;
  };
  return [
    rule("┌", "┬", "┐"),
    ...rows.flatMap((row, index) =>
      index === 0 ? [line(row, style.bold), rule("├", "┼", "┤")] : [line(row, (text) => text)],
    ),
    rule("└", "┴", "┘"),
  ];
}

/** Text with its looks. */
function inline(tokens: readonly Token[] | undefined, options: MarkdownOptions): string {
  const { style } = options;
  return (tokens ?? [])
    .map((token): string => {
      switch (token.type) {
        case "strong":
          return style.bold(inline(token.tokens, options));
        case "em":
          return style.italic(inline(token.tokens, options));
        case "del":
          return style.dim(inline(token.tokens, options));
        case "codespan":
          return style.cyan(unescaped(token.text));
        case "br":
          return "\n";
        case "link":
        case "image": {
          const label = token.type === "image" ? token.text : inline(token.tokens, options);
          const shown = style.underline(label);
          return token.href === token.text || token.href === `mailto:${token.text}`
            ? shown
            : `${shown} ${style.dim(`(${token.href})`)}`;
        }
        case "text":
          return token.tokens === undefined ? unescaped(token.text) : inline(token.tokens, options);
        case "escape":
          return unescaped(token.text);
        default:
          return token.raw;
      }
    })
    .join("");
}

/** Text without looks, for cells. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token): string =>
      "tokens" in token && token.tokens !== undefined && token.type !== "link"
        ? plain(token.tokens)
        : unescaped("text" in token ? String(token.text) : token.raw),
    )
    .join("");
}

/** The lexer gives some text as it would stand in HTML. */
function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

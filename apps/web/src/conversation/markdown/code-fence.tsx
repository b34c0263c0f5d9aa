import { memo } from "react";
import { CopyButton } from "../../ui/text/copy-button.js";
import type { Token } from "./highlighter.js";
import { useHighlightedLines } from "./use-highlighted-lines.js";

export interface CodeFenceProps {
  readonly code: string;
  /** As the fence names it; may be empty. */
  readonly language: string;
  /** Whether more of it is expected. */
  readonly growing: boolean;
}

/** Code with its language and a button that copies it. Colours come when they are there, and move nothing. */
export const CodeFence = memo(function CodeFence({ code, language, growing }: CodeFenceProps) {
  const lines = useHighlightedLines(code, language, growing);
  const shown = language === "" ? "text" : language.slice(0, 24);
  return (
    <figure className="code-fence" aria-label={`Code in ${shown}`} dir="ltr">
      <figcaption>
        <span>{shown}</span>
        <CopyButton text={code.replace(/\n$/, "")} label="Copy code" />
      </figcaption>
      {/* Keyboards scroll what they can focus. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable */}
      <pre tabIndex={0}>
        <code>
          {lines.map((tokens, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
            <CodeLine key={index} tokens={tokens} />
          ))}
        </code>
      </pre>
    </figure>
  );
});

const CodeLine = memo(
  function CodeLine({ tokens }: { readonly tokens: readonly Token[] }) {
    return (
      <span className="code-line">
        {tokens.map(({ text, color }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a token is what stands at its place
          <span key={index} style={color === undefined ? undefined : { color }}>
            {text}
          </span>
        ))}
        {"\n"}
      </span>
    );
  },
  (before, after) =>
    before.tokens === after.tokens ||
    (before.tokens.length === after.tokens.length &&
      before.tokens.every((token, index) => {
        const other = after.tokens[index];
        return token.text === other?.text && token.color === other.color;
      })),
);

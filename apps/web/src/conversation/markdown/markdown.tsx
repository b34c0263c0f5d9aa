import { ExternalLink, Image } from "lucide-react";
import { type ComponentProps, createElement, memo, type ReactNode } from "react";
import {
  type Components,
  defaultRehypePlugins,
  type ExtraProps,
  Streamdown,
  useIsCodeFenceIncomplete,
} from "streamdown";
import { CodeFence } from "./code-fence.js";
import { safeHref } from "./safe-link.js";
import "./markdown.css";

/*
 * Markdown that strangers wrote. HTML in it is shown as the text it is (the plugin that would parse it is left out),
 * what remains is sanitised all the same, links lead to the web or to mail only, and pictures become links: loading
 * one would tell its host who reads this conversation.
 */

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & ExtraProps;

function MarkdownLink({ href, children }: Props<"a">) {
  const safe = safeHref(href);
  if (safe === undefined) return <span className="md-nolink">{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" dir="auto">
      {children}
    </a>
  );
}

function MarkdownImage({ src, alt }: Props<"img">) {
  const safe = safeHref(src);
  const name = alt === undefined || alt === "" ? "picture" : alt;
  if (safe === undefined || safe.startsWith("mailto:")) return <span className="md-nolink">{name}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" className="md-image" dir="auto">
      <Image aria-hidden />
      {name}
      <ExternalLink aria-hidden />
    </a>
  );
}

function MarkdownPre({ node }: Props<"pre">) {
  const growing = useIsCodeFenceIncomplete();
  const code = node?.children[0];
  if (code === undefined || code.type !== "element") return null;
  const classes = code.properties.className;
  const language = Array.isArray(classes)
    ? classes.map(String).find((name) => name.startsWith("language-"))
    : undefined;
  return (
    <CodeFence code={textOf(code)} language={language?.slice("language-".length) ?? ""} growing={growing} />
  );
}

function MarkdownTable({ children }: Props<"table">) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
    <section className="md-table" aria-label="Table" tabIndex={0}>
      <table>{children as ReactNode}</table>
    </section>
  );
}

/** A task list's box: it cannot be ticked, so it is no field. */
function MarkdownTick({ checked }: Props<"input">) {
  return (
    <span role="img" aria-label={checked === true ? "done" : "open"} className="md-tick">
      {checked === true ? "☑" : "☐"}
    </span>
  );
}

/** An element whose text runs in its own direction, whatever stands around it. */
function directed<Tag extends "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "li" | "blockquote" | "th" | "td">(
  tag: Tag,
) {
  return function Directed({ node: _, ...props }: Props<Tag>) {
    return createElement(tag, { ...props, dir: "auto" });
  };
}

/** A heading. One without words, as it stands there before they have come, is nothing yet. */
function heading(tag: "h2" | "h3" | "h4" | "h5" | "h6") {
  const Heading = directed(tag);
  return function MarkdownHeading(props: Props<typeof tag>) {
    return props.node === undefined || textOf(props.node).trim() === "" ? null : <Heading {...props} />;
  };
}

/** Headings go one level down: the page's own title is the first. */
const components: Components = {
  h1: heading("h2"),
  h2: heading("h3"),
  h3: heading("h4"),
  h4: heading("h5"),
  h5: heading("h6"),
  h6: heading("h6"),
  p: directed("p"),
  li: directed("li"),
  blockquote: directed("blockquote"),
  th: directed("th"),
  td: directed("td"),
  ul: "ul",
  ol: "ol",
  hr: "hr",
  strong: "strong",
  code: "code",
  section: "section",
  sub: "sub",
  sup: "sup",
  thead: "thead",
  tbody: "tbody",
  tr: "tr",
  a: MarkdownLink,
  img: MarkdownImage,
  pre: MarkdownPre,
  table: MarkdownTable,
  input: MarkdownTick,
};

const rehypePlugins = defaultRehypePlugins.sanitize === undefined ? [] : [defaultRehypePlugins.sanitize];

export interface MarkdownProps {
  readonly text: string;
  /** Whether more is expected: unfinished marks are then closed, and only the last part is drawn again. */
  readonly streaming: boolean;
}

/** Markdown as it streams in and once it is whole; the change between the two draws nothing anew. */
export const Markdown = memo(function Markdown({ text, streaming }: MarkdownProps) {
  return (
    <Streamdown
      className="md"
      mode="streaming"
      parseIncompleteMarkdown={streaming}
      isAnimating={streaming}
      components={components}
      rehypePlugins={rehypePlugins}
      controls={false}
      lineNumbers={false}
    >
      {text}
    </Streamdown>
  );
});

interface Hast {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Hast[];
}

function textOf(node: Hast): string {
  if (node.type === "text") return node.value ?? "";
  return (node.children ?? []).map(textOf).join("");
}

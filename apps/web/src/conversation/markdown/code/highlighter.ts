import type { GrammarState, HighlighterCore, LanguageRegistration, ThemedToken } from "shiki/core";

/** A piece of a line in one color. The color is a CSS variable, so that a change of theme costs nothing. */
export interface Token {
  readonly text: string;
  readonly color?: string;
}

/** Colors lines, continuing from those before. */
export interface LineHighlighter {
  /** Returns the tokens of these lines, and the state to continue from. */
  highlight(
    code: string,
    after?: GrammarState,
  ): { readonly lines: readonly (readonly Token[])[]; readonly state?: GrammarState };
}

type Grammar = () => Promise<{ readonly default: LanguageRegistration[] }>;

/** Each grammar is a file of its own that loads when the first code in it is shown. */
const grammars: Readonly<Record<string, Grammar>> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

const aliases: Readonly<Record<string, string>> = {
  cjs: "typescript",
  console: "bash",
  "c++": "c",
  cpp: "c",
  h: "c",
  golang: "go",
  htm: "html",
  javascript: "typescript",
  js: "typescript",
  json5: "json",
  jsonc: "json",
  jsonl: "json",
  jsx: "tsx",
  md: "markdown",
  mjs: "typescript",
  mts: "typescript",
  patch: "diff",
  postgresql: "sql",
  py: "python",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  shellscript: "bash",
  svg: "html",
  ts: "typescript",
  vue: "html",
  xml: "html",
  yml: "yaml",
  zsh: "bash",
};

/** Returns the grammar for the language that a fence names, if there is one. */
export function grammarOf(language: string): string | undefined {
  const name = language.toLowerCase();
  const grammar = aliases[name] ?? name;
  return Object.hasOwn(grammars, grammar) ? grammar : undefined;
}

const theme = "parley";
let core: Promise<HighlighterCore> | undefined;
const ready = new Map<string, LineHighlighter>();
const loading = new Map<string, Promise<LineHighlighter | undefined>>();

/** Returns the highlighter of a grammar, if it is loaded. */
export function loadedHighlighter(grammar: string): LineHighlighter | undefined {
  return ready.get(grammar);
}

/** Loads the highlighter of a grammar. Undefined if it cannot be loaded: the code is then shown without colors. */
export function loadHighlighter(grammar: string): Promise<LineHighlighter | undefined> {
  let promise = loading.get(grammar);
  if (promise === undefined) {
    promise = load(grammar).catch(() => {
      loading.delete(grammar);
      return undefined;
    });
    loading.set(grammar, promise);
  }
  return promise;
}

async function load(grammar: string): Promise<LineHighlighter | undefined> {
  const loadGrammar = grammars[grammar];
  if (loadGrammar === undefined) return undefined;
  core ??= createCore();
  const [highlighter, registration] = await Promise.all([core, loadGrammar()]);
  await highlighter.loadLanguage(registration.default);
  const lines: LineHighlighter = {
    highlight(code, after) {
      const tokens = highlighter.codeToTokensBase(code, {
        lang: grammar,
        theme,
        // Lines longer than grammars are made for are shown without colors instead of blocking the page.
        tokenizeMaxLineLength: 2_000,
        // The first line of a language takes long, because its patterns are compiled then: never interrupt that.
        tokenizeTimeLimit: 5_000,
        ...(after === undefined ? {} : { grammarState: after }),
      });
      const state = highlighter.getLastGrammarState(tokens);
      return { lines: tokens.map(toTokens), ...(state === undefined ? {} : { state }) };
    },
  };
  ready.set(grammar, lines);
  return lines;
}

async function createCore(): Promise<HighlighterCore> {
  const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] =
    await Promise.all([import("shiki/core"), import("shiki/engine/javascript")]);
  return createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [createCssVariablesTheme({ name: theme, variablePrefix: "--code-", fontStyle: false })],
    langs: [],
  });
}

function toTokens(line: readonly ThemedToken[]): readonly Token[] {
  return line.map(({ content, color }) =>
    color === undefined ? { text: content } : { text: content, color },
  );
}

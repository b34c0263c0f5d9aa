import { useClient, useConnection, useConversationList } from "@parley/client/react";
import type { ConversationMeta, ReasoningEffort } from "@parley/wire";
import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { useCommands } from "../app/commands/commands.js";
import { offeredEfforts } from "../app/efforts.js";
import { closeDrawer, showOverlay } from "../app/layout/layout-store.js";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { modelInUse, withoutOwnModel } from "../app/model-in-use.js";
import { useModels } from "../app/models.js";
import { conversationPath, navigate } from "../app/router.js";
import { useNewSettings } from "../composer/new-settings.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { BranchNumber } from "../list/branch-number.js";
import { branchNumbers } from "../list/branches.js";
import { usePendingDeletes } from "../list/conversation-actions.js";
import { relativeTime } from "../list/relative-time.js";
import { keepQuery } from "../search/search-query.js";
import { useSettled } from "../search/use-settled.js";
import { Badge } from "../ui/badge.js";
import { Kbd } from "../ui/kbd.js";
import { StatusDot } from "../ui/status-dot.js";
import { CommandFrame, commandEntryClass, commandGroupClass } from "./command-frame.js";
import { chooseEffort, chooseModel } from "./conversation-commands.js";
import { matchScore } from "./match-score.js";
import { type PaletteCommand, paletteCommands } from "./palette-commands.js";
import { groupCommands } from "./shortcut-groups.js";

/** A list that an entry of the palette opens. */
type Page = "model" | "effort";

/** The command that opens the palette: within it, it would do nothing. */
const ownId = "palette";

/** Number of conversations in the list before anything is typed. */
const recentCount = 5;

const placeholders = {
  root: "What do you want to do?",
  model: "Choose a model",
  effort: "Choose an effort",
};

const conversationValue = "conversation ";

/** Scores an entry. Conversations come after commands with the same score, and also match by the start of their ids. */
function scoreEntry(value: string, query: string, words: string[] = []): number {
  if (!value.startsWith(conversationValue)) return matchScore(query, words);
  const id = value.slice(conversationValue.length);
  const hasId = query.trim().length > 3 && id.startsWith(query.trim());
  return hasId ? 1 : matchScore(query, words) * 0.95;
}

/** All commands of the page, found by typing. */
export function CommandPalette(props: OverlayProps) {
  return <Palette {...props} start={undefined} />;
}

/** The palette at its list of models, for servers that have many. */
export function ModelPalette(props: OverlayProps) {
  return <Palette {...props} start="model" />;
}

function Palette({
  open,
  onOpenChange,
  conversationId,
  start,
}: OverlayProps & { readonly start: Page | undefined }) {
  const [page, setPage] = useState(start);
  const [query, setQuery] = useState("");
  const turnTo = (next: Page | undefined) => {
    setPage(next);
    setQuery("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (page === undefined || query !== "" || event.key !== "Backspace") return;
    event.preventDefault();
    turnTo(undefined);
  };
  /** Closes the palette first, so that a dialog opened by the command is not closed with it. */
  const then = (command: () => void) => () => {
    onOpenChange(false);
    command();
  };
  return (
    <CommandFrame
      open={open}
      onOpenChange={onOpenChange}
      label="Commands"
      placeholder={placeholders[page ?? "root"]}
      query={query}
      onQueryChange={setQuery}
      score={scoreEntry}
      icon={<ChevronRight />}
      scope={page !== undefined && <Badge>{page === "model" ? "Model" : "Effort"}</Badge>}
      onKeyDown={onKeyDown}
      footer={
        <span className="flex flex-wrap gap-x-4 touch:hidden">
          <span className="flex items-center gap-1.5">
            <Kbd keys="Enter" /> choose
          </span>
          {page !== undefined && (
            <span className="flex items-center gap-1.5">
              <Kbd keys="Backspace" /> back
            </span>
          )}
          <span className="flex items-center gap-1.5">
            <Kbd keys="Esc" /> close
          </span>
        </span>
      }
    >
      <Command.Empty className="px-4 py-6 text-center text-sm text-soft">Nothing fits.</Command.Empty>
      {page === undefined ? (
        <RootEntries query={query} conversationId={conversationId} then={then} turnTo={turnTo} />
      ) : page === "model" ? (
        <ModelEntries conversationId={conversationId} then={then} />
      ) : (
        <EffortEntries conversationId={conversationId} then={then} />
      )}
    </CommandFrame>
  );
}

type Then = (command: () => void) => () => void;

interface RootEntriesProps {
  readonly query: string;
  readonly conversationId: string | undefined;
  readonly then: Then;
  readonly turnTo: (page: Page) => void;
}

function RootEntries({ query, conversationId, then, turnTo }: RootEntriesProps) {
  const client = useClient();
  const connection = useConnection();
  const groups = groupCommands(useCommands().filter(({ id, hidden }) => hidden !== true && id !== ownId));
  const offered = new Set(groups.flatMap(({ commands }) => commands.map(({ id }) => id)));
  const state = conversationId === undefined ? undefined : connection.peek(conversationId).getState();
  const hasEffort = useOfferedEfforts(conversationId).choices.length > 0;
  const ownCommands = paletteCommands({ client, conversationId, state, hasEffort }).filter(
    ({ id }) => !offered.has(id),
  );
  const ownCommandsOf = (group: PaletteCommand["group"]) =>
    ownCommands
      .filter((command) => command.group === group)
      .map((command) => (
        <Entry
          key={command.id}
          value={command.id}
          words={[command.title, ...(command.keywords ?? [])]}
          onSelect={command.leadsTo === undefined ? then(command.run) : () => turnTo(command.leadsTo as Page)}
        >
          <span className="min-w-0 flex-1 truncate">{command.title}</span>
          {command.leadsTo !== undefined && <ChevronRight aria-hidden />}
        </Entry>
      ));
  const groupOf = (name: PaletteCommand["group"]) => {
    const commands = groups.find(({ group }) => group === name)?.commands ?? [];
    const further = ownCommandsOf(name);
    if (commands.length + further.length === 0) return null;
    const entry = ({ id, title, keys, keywords, run }: (typeof commands)[number]) => (
      <Entry key={id} value={id} words={[title, ...(keywords ?? [])]} onSelect={then(run)}>
        <span className="min-w-0 flex-1 truncate">{title}</span>
        {keys !== undefined && <Kbd keys={keys} />}
      </Entry>
    );
    return (
      <Command.Group heading={name} className={commandGroupClass}>
        {commands.filter(({ keys }) => keys !== undefined).map(entry)}
        {further}
        {commands.filter(({ keys }) => keys === undefined).map(entry)}
      </Command.Group>
    );
  };
  const conversations = <ConversationEntries query={query} conversationId={conversationId} then={then} />;
  const isAsked = query.trim() !== "";
  // Harmless entries come first: a user who presses Enter too early chooses the first. A user who has typed something
  // means a command rather than a conversation with a similar name; the library orders entries within a group only.
  return (
    <>
      {groupOf("Go to")}
      {!isAsked && conversations}
      {groupOf("Conversation")}
      {groupOf("Composer")}
      {groupOf("View")}
      {isAsked && conversations}
      {isAsked && (
        <Command.Group forceMount className={commandGroupClass} value="search">
          <Command.Item
            forceMount
            value="search.messages"
            className={commandEntryClass}
            onSelect={then(() => {
              keepQuery(query.trim());
              showOverlay("search");
            })}
          >
            <span className="isolate-text min-w-0 flex-1 truncate">{`Search messages for \u201c${query.trim()}\u201d`}</span>
          </Command.Item>
        </Command.Group>
      )}
    </>
  );
}

interface EntryProps {
  readonly value: string;
  /** Words that it is found by. */
  readonly words: readonly string[];
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Entry({ value, words, onSelect, children }: EntryProps) {
  return (
    <Command.Item value={value} keywords={[...words]} onSelect={onSelect} className={commandEntryClass}>
      {children}
    </Command.Item>
  );
}

/** The newest conversations, and with a query also those that only the server knows. */
function ConversationEntries({
  query,
  conversationId,
  then,
}: {
  readonly query: string;
  readonly conversationId: string | undefined;
  readonly then: Then;
}) {
  const client = useClient();
  const { state } = useConversationList();
  const hidden = usePendingDeletes((each) => each.ids);
  const settled = useSettled(query.trim(), 200);
  const found = useQuery(
    {
      queryKey: ["conversations", settled],
      queryFn: ({ signal }) =>
        client.request("GET /conversations", { query: { q: settled, limit: 20 }, signal }),
      enabled: settled.length > 1,
      staleTime: 0,
    },
    inspectorQueries,
  );
  const known = new Set(state.conversations.map(({ id }) => id));
  const further =
    query.trim() === "" ? [] : (found.data?.conversations ?? []).filter(({ id }) => !known.has(id));
  const listed = [...state.conversations, ...further].filter(({ id }) => !hidden.has(id));
  // The same numbers as in the list: closed conversations are listed separately there.
  const branches = branchNumbers(listed.filter(({ status }) => status !== "closed"));
  const all = listed.filter(({ id }) => id !== conversationId);
  const shown = query.trim() === "" ? all.slice(0, recentCount) : all;
  if (shown.length === 0) return null;
  return (
    <Command.Group heading="Go to conversation" className={commandGroupClass}>
      {shown.map((conversation) => (
        <ConversationEntry
          key={conversation.id}
          conversation={conversation}
          branch={branches.get(conversation.id)}
          then={then}
        />
      ))}
    </Command.Group>
  );
}

function ConversationEntry({
  conversation,
  branch,
  then,
}: {
  readonly conversation: ConversationMeta;
  /** Its number among its branches. */
  readonly branch: number | undefined;
  readonly then: Then;
}) {
  const { id, title, status, waiting, lastActivityAt } = conversation;
  const go = () => {
    closeDrawer();
    navigate(conversationPath(id));
  };
  return (
    <Entry value={`${conversationValue}${id}`} words={[title]} onSelect={then(go)}>
      {branch !== undefined && <BranchNumber number={branch} />}
      <bdi className="min-w-0 flex-1 truncate">{title === "" ? "Untitled" : title}</bdi>
      <StatusDot status={status} waiting={waiting} />
      <span className="shrink-0 text-xs text-faint">{relativeTime(lastActivityAt, Date.now())}</span>
    </Entry>
  );
}

interface ChoiceEntriesProps {
  readonly conversationId: string | undefined;
  readonly then: Then;
}

/** Returns the model and the effort that are chosen for the next turn. */
function useChosen(conversationId: string | undefined): {
  readonly model: string | null;
  readonly effort: ReasoningEffort | null;
  readonly meta?: ConversationMeta | undefined;
} {
  const connection = useConnection();
  const { model, reasoningEffort } = useNewSettings();
  if (conversationId === undefined) return { model, effort: reasoningEffort };
  const { meta } = connection.peek(conversationId).getState();
  return { model: meta?.model ?? null, effort: meta?.reasoningEffort ?? null, meta };
}

function ModelEntries({ conversationId, then }: ChoiceEntriesProps) {
  const client = useClient();
  const models = useModels();
  const chosen = useChosen(conversationId);
  const inUse = chosen.model === null ? modelInUse(chosen.meta, models?.defaultModel).model : undefined;
  const names: readonly (string | null)[] = [null, ...(models?.models ?? [])];
  return names.map((name) => (
    <Entry
      key={name ?? ""}
      value={name ?? "default"}
      words={[name ?? "server default model last turn"]}
      onSelect={then(() => void chooseModel(client, conversationId, name))}
    >
      <span className="min-w-0 flex-1 truncate">
        {name ?? `${withoutOwnModel(chosen.meta)}${inUse === undefined ? "" : ` (${inUse})`}`}
      </span>
      {name === chosen.model && <Badge tone="accent">Now</Badge>}
    </Entry>
  ));
}

/** Returns the efforts that are offered for the model of the next turn. */
function useOfferedEfforts(conversationId: string | undefined) {
  const models = useModels();
  const chosen = useChosen(conversationId);
  const model = chosen.model ?? modelInUse(chosen.meta, models?.defaultModel).model;
  return { ...offeredEfforts(models, model, chosen.effort), chosen };
}

function EffortEntries({ conversationId, then }: ChoiceEntriesProps) {
  const client = useClient();
  const { choices, chosen } = useOfferedEfforts(conversationId);
  return choices.map(({ value, note }) => {
    const effort = value === "default" ? null : value;
    return (
      <Entry
        key={value}
        value={value}
        words={[value]}
        onSelect={then(() => void chooseEffort(client, conversationId, effort))}
      >
        <span className="min-w-0 flex-1">{value}</span>
        {note !== undefined && <span className="text-xs text-faint">{note}</span>}
        {effort === chosen.effort && <Badge tone="accent">Now</Badge>}
      </Entry>
    );
  });
}

import { useClient, useConnection } from "@parley/client/react";
import type { UploadInfo } from "@parley/wire";
import { Clock, Hand, Hourglass, Layers, ScrollText, TriangleAlert } from "lucide-react";
import { type KeyboardEvent, type ReactElement, useCallback, useRef, useState } from "react";
import { useAccess, useMayWrite } from "../app/access/access.js";
import { SidebarToggle } from "../app/layout/sidebar-toggle.js";
import { isDemoModel, useModels } from "../app/models.js";
import { newId } from "../app/new-id.js";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, Link, navigate, settingsPath } from "../app/router.js";
import { ComposerFrame, IdleHint, SendButton } from "../composer/composer.js";
import { ComposerField, type ComposerFieldHandle } from "../composer/composer-field.js";
import { newDraft, putBack } from "../composer/drafts.js";
import { focusComposer } from "../composer/focus-composer.js";
import { takeNewSettings } from "../composer/new-settings.js";
import { ReadOnlyNote } from "../composer/read-only-note.js";
import { isSendKey } from "../composer/send-key.js";
import { SettingPickers } from "../composer/setting-pickers.js";
import { takeMessage } from "../composer/take-message.js";
import { usePaste } from "../composer/use-paste.js";
import { preloadAnswer } from "../conversation/conversation-part.js";
import { nextConversationId, renewConversationId } from "../conversation/next-conversation.js";
import { AttachButton } from "../files/attach-button.js";
import { AttachmentList } from "../files/attachment-list.js";
import { draftUploads } from "../files/draft-files.js";
import { useAttachments } from "../files/use-attachments.js";
import { beginFamily } from "../list/use-family.js";
import { enterTemporary } from "../temporary/leave-temporary.js";
import { NewTemporaryNote } from "../temporary/temporary-banner.js";
import { TemporaryToggle, takeNewTemporary, useNewTemporary } from "../temporary/temporary-toggle.js";
import { Recent } from "./recent.js";

/** Messages to send that show what the demo model can do. */
const examples: readonly { readonly text: string; readonly shows: string; readonly icon: ReactElement }[] = [
  { text: "What time is it in Tokyo?", shows: "A tool call and its result", icon: <Clock /> },
  {
    text: "Ask me before you water the plants",
    shows: "A call that waits for your approval",
    icon: <Hand />,
  },
  { text: "Use many tools at once", shows: "Six calls in one step", icon: <Layers /> },
  { text: "Start the slow tool", shows: "Live output: steer, queue or stop it", icon: <Hourglass /> },
  { text: "Give me a long answer", shows: "Headings, a table, code", icon: <ScrollText /> },
  { text: "Show me an error", shows: "A failed turn, and how to retry", icon: <TriangleAlert /> },
];

/** The page that starts a conversation. On the first visit it explains which model answers. */
export function Welcome() {
  const models = useModels();
  const demo = isDemoModel(models?.defaultModel);
  const mayWrite = useMayWrite();
  const starters =
    useAccess((state) => (state.phase === "granted" ? state.me.starters : undefined)) ?? nothing;
  const temporary = useNewTemporary(({ isOn }) => isOn);
  const field = useRef<ComposerFieldHandle>(null);
  const start = useStart();
  const [noText, setNoText] = useState(true);
  const attachments = useAttachments(newDraft);
  const paste = usePaste(field, attachments.uploads);
  const empty = noText && attachments.list.length === 0;
  const onEmptyChange = useCallback((isEmpty: boolean) => {
    setNoText(isEmpty);
    // A user who types wants an answer, even if the page has had no time to load its code yet.
    if (!isEmpty) preloadAnswer();
  }, []);
  const submit = () => {
    const sent = takeMessage(field.current, attachments);
    if (sent === undefined) return;
    paste.forget();
    start(sent.text, sent.files);
  };
  const onKey = (event: KeyboardEvent) => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    submit();
  };
  if (!mayWrite) return <ReadingWelcome />;
  return (
    <main className="flex min-w-0 flex-1 flex-col">
      <div className="flex h-14 shrink-0 items-center px-2 sm:px-3">
        <SidebarToggle />
        <span className="px-1.5 font-semibold md:hidden">Parley</span>
        <span className="flex-1" />
        <TemporaryToggle />
      </div>
      {temporary && <NewTemporaryNote />}
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex w-full max-w-[46rem] flex-col gap-6 px-4 pt-[clamp(0.5rem,14dvh,9rem)] pb-6 sm:px-6">
          <div>
            <h1 className="text-xl font-semibold tracking-tight">What shall we talk about?</h1>
            {demo && <DemoNote />}
          </div>
          {demo && (
            <ul className="grid gap-2 sm:grid-cols-2" aria-label="Examples">
              {examples.map(({ text, shows, icon }) => (
                <li key={text}>
                  <button
                    type="button"
                    onClick={() => start(text)}
                    className="flex w-full items-start gap-3 rounded-lg border border-line bg-raised px-3.5 py-3 text-left transition-colors hover:border-line-strong hover:bg-sunken/40"
                  >
                    <span aria-hidden className="mt-0.5 text-accent [&_svg]:size-4">
                      {icon}
                    </span>
                    <span className="min-w-0">
                      <span className="block text-sm font-medium">{text}</span>
                      <span className="block text-xs text-faint">{shows}</span>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          {starters.length > 0 && <Starters texts={starters} onChoose={(text) => field.current?.put(text)} />}
          {!demo && !temporary && models !== undefined && <Recent />}
        </div>
      </div>
      <ComposerFrame hint={<IdleHint />}>
        <ComposerField
          ref={field}
          draftKey={newDraft}
          placeholder="Write a message"
          onKey={onKey}
          onEmptyChange={onEmptyChange}
          onPaste={paste.onPaste}
          above={
            <>
              {paste.offer}
              <AttachmentList {...attachments} onRemoved={focusComposer} />
            </>
          }
          left={
            <div className="flex min-w-0 items-center gap-0.5">
              <AttachButton onFiles={attachments.uploads.add} />
              <SettingPickers />
            </div>
          }
          right={<SendButton empty={empty} onSend={submit} />}
        />
      </ComposerFrame>
    </main>
  );
}

const nothing: readonly string[] = [];

/** Prompt starters of the server's configuration. A press writes one into the composer; the user sends it. */
function Starters({
  texts,
  onChoose,
}: {
  readonly texts: readonly string[];
  readonly onChoose: (text: string) => void;
}) {
  return (
    <ul className="flex flex-wrap gap-2" aria-label="Ways to begin">
      {texts.map((text) => (
        <li key={text} className="max-w-full">
          <button
            type="button"
            onClick={() => onChoose(text)}
            className="max-w-full truncate rounded-full border border-line bg-raised px-3.5 py-1.5 text-left text-sm hover:border-line-strong hover:bg-sunken/40 touch:py-2.5"
          >
            <bdi>{text}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The first page for a key that may only read. */
function ReadingWelcome() {
  return (
    <main className="flex min-w-0 flex-1 flex-col">
      <div className="flex h-14 shrink-0 items-center px-2 sm:px-3">
        <SidebarToggle />
        <span className="px-1.5 font-semibold md:hidden">Parley</span>
      </div>
      <div className="mx-auto w-full max-w-[46rem] flex-1 space-y-6 overflow-y-auto px-4 pt-[clamp(0.5rem,14dvh,9rem)] pb-6 sm:px-6">
        <h1 className="text-xl font-semibold tracking-tight">What would you like to read?</h1>
        <Recent />
      </div>
      <ReadOnlyNote />
    </main>
  );
}

function DemoNote() {
  const isAdmin = useAccess((state) => state.phase === "granted" && state.me.scopes.includes("admin"));
  return (
    <div className="mt-2 space-y-1.5 text-sm text-soft">
      <p>
        The <strong className="font-medium text-ink">demo model</strong> answers here: a few hundred lines of
        code that need no key and no network. It follows keywords and shows everything that Parley does.
      </p>
      <p>
        {isAdmin ? (
          <>
            For a real model,{" "}
            <Link to={settingsPath("connections")} className="rounded-sm font-medium text-accent underline">
              connect a provider
            </Link>{" "}
            with its key, or name your models in <Code>parley.config.mjs</Code>.
          </>
        ) : (
          "For a real model, ask an administrator of this server to connect a provider."
        )}
      </p>
    </div>
  );
}

function Code({ children }: { readonly children: string }) {
  return <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-xs text-ink">{children}</code>;
}

/**
 * Returns a function that starts a conversation with a message and shows it at once, before the server has answered.
 */
function useStart(): (text: string, files?: readonly UploadInfo[]) => void {
  const client = useClient();
  const connection = useConnection();
  return useCallback(
    (text, files) => {
      const id = nextConversationId();
      const temporary = takeNewTemporary() ? true : undefined;
      const send = () => {
        const handle = connection.conversation(id);
        beginFamily(id);
        // If it fails, the message itself shows that, and the reason.
        const done = () => handle.release();
        handle.send(text, { messageId: newId(), files, temporary, isNew: true }).then(done, done);
        if (temporary) enterTemporary(client, id);
        navigate(conversationPath(id));
        renewConversationId();
      };
      const settings = takeNewSettings();
      if (settings === undefined) {
        send();
        return;
      }
      client
        .request("POST /conversations", { body: { id, ...settings, temporary } })
        .then(send, (error: unknown) => {
          renewConversationId();
          putBack(newDraft, text);
          useNewTemporary.setState({ isOn: temporary === true });
          draftUploads(client, newDraft).restore(files ?? []);
          reportFailure("Not sent", error);
        });
    },
    [client, connection],
  );
}

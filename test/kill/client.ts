import { ClientRecord, type SentMessage, type Viewer } from "./client-record.js";
import { NodeDied, Refused, type RunningNode } from "./running-node.js";

/** Actions of a turn; see the plans of `scripted-model.mjs`. */
export type TurnKind = "talk" | "retry" | "fail" | "long" | "pay" | "ask";

/**
 * A client that talks to nodes which may die at any moment. It keeps its record, records the answers, and repeats
 * requests, with the same ids, that were not answered.
 */
export class Client {
  readonly record = new ClientRecord();
  readonly #prefix: string;
  readonly #at = new Map<Viewer, { readonly node: RunningNode; readonly leave: () => void }>();
  #count = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  id(kind: string): string {
    this.#count += 1;
    return `${this.#prefix}${kind}${this.#count}`;
  }

  /** Records what the node reports from now on. */
  listenTo(node: RunningNode): void {
    for (const report of node.reports) this.record.report(report);
    node.onReport = (report) => this.record.report(report);
  }

  /** Returns the node that a viewer follows, if it lives. */
  nodeOf(viewer: Viewer): RunningNode | undefined {
    const node = this.#at.get(viewer)?.node;
    return node?.alive ? node : undefined;
  }

  /** Follows a conversation on a node, from the viewer's position; reconnects while the node lives. */
  follow(node: RunningNode, viewer: Viewer): void {
    this.#at.get(viewer)?.leave();
    viewer.cut();
    const leave = node.attach(viewer.conversationId, viewer.cursor, {
      onFrame: (frame) => this.record.take(viewer, frame),
      onEnd: (code) => {
        if (code === "died") return;
        setTimeout(() => {
          if (this.nodeOf(viewer) === node) this.follow(node, viewer);
        }, 50);
      },
    });
    this.#at.set(viewer, { node, leave });
  }

  /** Sends a message that opens a turn, or waits behind the running one. */
  say(node: RunningNode, conversationId: string, kind: TurnKind): Promise<SentMessage> {
    const messageId = this.id("m");
    return this.#send(node, { conversationId, messageId, text: `do ${kind} ${messageId}`, mode: "queue" });
  }

  /** Sends a message that joins the running turn, or opens the next. */
  steer(node: RunningNode, conversationId: string): Promise<SentMessage> {
    const messageId = this.id("m");
    return this.#send(node, { conversationId, messageId, text: `also ${messageId}`, mode: "steer" });
  }

  async stop(node: RunningNode, conversationId: string): Promise<void> {
    await unlessUnknown(node.stop(conversationId));
  }

  async compact(node: RunningNode, conversationId: string): Promise<void> {
    const asked: ClientRecord["compactions"][number] = { conversationId, outcome: "unknown" };
    this.record.compactions.push(asked);
    try {
      await node.compact(conversationId, { keepLastN: 4 });
      asked.outcome = "done";
    } catch (error) {
      if (!isUnknown(error)) asked.outcome = "refused";
    }
  }

  /** Forks after the newest turn that is known to be sealed, with a message that opens the fork's first turn. */
  async fork(node: RunningNode, conversationId: string, kind: TurnKind): Promise<string> {
    const seals = [...this.record.sealed.values()].filter((seal) => seal.conversationId === conversationId);
    const atSeq = Math.max(0, ...seals.map(({ lastSeq }) => lastSeq ?? 0));
    const id = this.id("f");
    const messageId = this.id("m");
    this.record.forks.set(id, { parentId: conversationId, atSeq, isKnown: false });
    this.record.sent.set(messageId, {
      conversationId: id,
      messageId,
      text: `do ${kind} ${messageId}`,
      receipt: undefined,
    });
    await this.#fork(node, id);
    return id;
  }

  /** Repeats every request whose outcome is unknown. Afterwards it is known. */
  async settleUnknown(node: RunningNode): Promise<void> {
    for (const [id, fork] of this.record.forks) if (!fork.isKnown) await this.#fork(node, id);
    for (const message of this.record.sent.values()) {
      if (message.receipt === undefined) await this.#send(node, { ...message, mode: "queue" });
    }
  }

  /** Sends admitted messages again, and returns the answers that differ. */
  async checkReceipts(node: RunningNode, newest: number): Promise<string[]> {
    const problems: string[] = [];
    for (const { messageId, conversationId, text, receipt } of [...this.record.sent.values()].slice(
      -newest,
    )) {
      if (receipt === undefined) continue;
      const again = await node.send({ conversationId, messageId, message: text, ifBusy: "queue" });
      const isSame = again.repeated && again.outcome === receipt.outcome;
      const isSameTurn = receipt.turnId === undefined || receipt.turnId === again.turnId;
      if (!isSame || !isSameTurn) {
        problems.push(`${messageId}: ${JSON.stringify(receipt)}, then ${JSON.stringify(again)}`);
      }
    }
    return problems;
  }

  async #fork(node: RunningNode, id: string): Promise<void> {
    const fork = this.record.forks.get(id);
    const message = [...this.record.sent.values()].find(({ conversationId }) => conversationId === id);
    if (fork === undefined || message === undefined) return;
    const { messageId, text } = message;
    const input = { conversationId: fork.parentId, atSeq: fork.atSeq, id, message: text, messageId };
    const made = await unlessUnknown(node.fork(input));
    if (made === undefined) return;
    fork.isKnown = true;
    const { turnId } = made;
    message.receipt ??= {
      conversationId: id,
      messageId,
      outcome: "started",
      repeated: false,
      ...(turnId === undefined ? {} : { turnId }),
    };
  }

  async #send(
    node: RunningNode,
    input: Omit<SentMessage, "receipt"> & { readonly mode: "steer" | "queue" },
  ): Promise<SentMessage> {
    const { conversationId, messageId, text, mode } = input;
    const message = this.record.sent.get(messageId) ?? {
      conversationId,
      messageId,
      text,
      receipt: undefined,
    };
    this.record.sent.set(messageId, message);
    const send = node.send({ conversationId, messageId, message: text, ifBusy: mode });
    message.receipt ??= await unlessUnknown(send);
    return message;
  }
}

/** Returns undefined if the outcome is unknown: the node died, or could not reach its store. */
async function unlessUnknown<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof NodeDied || (error instanceof Refused && error.code === "store_unavailable");
}

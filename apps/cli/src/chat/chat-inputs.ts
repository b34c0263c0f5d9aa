import { ParleyRequestError } from "@parley/client";
import { inputRequests } from "@parley/client/input";
import type { PendingRequest, RespondRequest } from "@parley/wire";
import { decisionText } from "../input/decision-text.js";
import { type InputPrompt, openPrompt } from "../input/input-prompt.js";
import { escapeInvisible } from "../terminal/data-text.js";
import type { ChatController } from "./chat-controller.js";

/**
 * The requests of the conversation that a chat is in, and the one that is asked about now. The log says which are open;
 * what exactly will run is read from the server, byte for byte.
 */
export class ChatInputs {
  readonly #controller: ChatController;
  readonly #onChange: () => void;
  readonly #onFailure: (error: unknown) => void;
  readonly #known = new Map<string, PendingRequest>();
  /** Ids that were asked for, so that one that was answered meanwhile is not asked for again and again. */
  readonly #read = new Set<string>();
  readonly #deferred = new Set<string>();
  /** Prompts that were put off, with the arguments that had been changed. */
  readonly #drafts = new Map<string, InputPrompt>();
  readonly #answered = new Set<string>();
  prompt: InputPrompt | undefined;

  constructor(controller: ChatController, listener: { onChange(): void; onFailure(error: unknown): void }) {
    this.#controller = controller;
    this.#onChange = () => listener.onChange();
    this.#onFailure = (error) => listener.onFailure(error);
  }

  /** Number of requests that wait for a decision here. */
  get count(): number {
    return this.#open().length;
  }

  /**
   * Follows the conversation: closes the prompt when its request was answered elsewhere, and opens one for the next
   * request if nothing is being typed. Returns a text about it, if there is one.
   */
  update(isTyping: boolean): string | undefined {
    const notice = this.#close();
    const unread = this.#controller.openInputs.filter((id) => !this.#read.has(id));
    if (unread.length > 0) this.#readPending(unread);
    if (!isTyping) this.#openNext();
    return notice;
  }

  /** Asks again about postponed requests. Returns false if there are none. */
  askAgain(): boolean {
    this.#deferred.clear();
    this.#openNext();
    return this.prompt !== undefined;
  }

  /** Postpones the request of the open prompt. */
  defer(): void {
    if (this.prompt === undefined) return;
    const { requestId } = this.prompt.request;
    this.#deferred.add(requestId);
    this.#drafts.set(requestId, { ...this.prompt, notice: "" });
    this.prompt = undefined;
  }

  /** Postpones all open requests. */
  deferAll(): void {
    this.defer();
    for (const { requestId } of this.#open()) this.#deferred.add(requestId);
  }

  /** Answers the request of the open prompt. Returns a text if another client decided first. */
  async respond(response: RespondRequest): Promise<string | undefined> {
    const { prompt } = this;
    if (prompt === undefined) return undefined;
    const { request } = prompt;
    const { requestId } = request;
    this.prompt = undefined;
    this.#answered.add(requestId);
    try {
      await inputRequests(this.#controller.client.request).respond(request, response);
      return undefined;
    } catch (error) {
      const problem = error instanceof ParleyRequestError ? error.problem : undefined;
      if (problem?.response !== undefined) return sayDecided(request, decisionText(problem.response));
      this.#answered.delete(requestId);
      if (problem?.code !== "invalid_request") {
        this.#deferred.add(requestId);
        throw error;
      }
      // Arguments that the tool refuses, or an answer of another form: asked again, with the reason.
      this.prompt ??= { ...prompt, notice: problem.detail ?? problem.title };
      return undefined;
    }
  }

  #open(): PendingRequest[] {
    return this.#controller.openInputs.flatMap((id) => {
      const request = this.#known.get(id);
      const isForPeople = request?.kind === "approval" || request?.kind === "question";
      return request !== undefined && isForPeople && !this.#answered.has(id) ? [request] : [];
    });
  }

  #openNext(): void {
    const next = this.#open().find(({ requestId }) => !this.#deferred.has(requestId));
    if (next !== undefined) this.prompt ??= this.#drafts.get(next.requestId) ?? openPrompt(next);
  }

  #close(): string | undefined {
    const request = this.prompt?.request;
    if (request === undefined) return undefined;
    const { conversationId, requestId } = request;
    if (conversationId === this.#controller.id && this.#controller.openInputs.includes(requestId))
      return undefined;
    this.prompt = undefined;
    const response =
      conversationId === this.#controller.id ? this.#controller.inputs.get(requestId)?.response : undefined;
    return response === undefined ? undefined : sayDecided(request, decisionText(response));
  }

  #readPending(ids: readonly string[]): void {
    for (const id of ids) this.#read.add(id);
    inputRequests(this.#controller.client.request)
      .pending({ conversationId: this.#controller.id })
      .then(
        (pending) => {
          for (const request of pending) this.#known.set(request.requestId, request);
          this.#onChange();
        },
        (error: unknown) => this.#onFailure(error),
      );
  }
}

function sayDecided({ toolName }: PendingRequest, said: string): string {
  return `Decided elsewhere: ${escapeInvisible(toolName)} was ${said}.`;
}

/** What the integrations share: two tools, and the context of a prompt. */

import type { Options, Scope } from "./memory.ts";

export type RecallInput = { query: string };
export type RememberInput = { text: string; topic?: string };
/** Who says something, and the words. */
export type Turn = [role: "user" | "assistant", text: string];
const LONGEST_QUESTION = 20_000; // characters
type Part = { readonly type: string; readonly text?: string };
type Message = { readonly role: string; readonly content: string | readonly Part[] };

/** Options of a chat that remembers; the others are those of `context`, such as `max_tokens` and `min_fit`. */
export interface ChatOptions extends Options<"context", "query"> {
  /** Whether the turns of user and assistant are stored; true if not given. */
  store?: boolean;
  /** The topic of stored turns: the id of the session. */
  topic?: string;
  /** Takes an error of the memory, and the chat goes on without it; if not given, the call fails. */
  onError?: (error: unknown) => void;
}

export const RECALL = {
  description: "Search what was said and noted in earlier conversations with this user.",
  schema: texts({ query: "The question, in words that the answer would have." }, "query"),
  async run(scope: Scope, { query }: RecallInput, options: Options<"context", "query">): Promise<string> {
    return (await scope.context(questionText(query), options)).text || "Nothing in memory fits this question.";
  },
};

export const REMEMBER = {
  description:
    "Keep one thing for later conversations: what the user says about himself, a decision, a preference, how a " +
    "problem was solved; not what is only of this moment, and not what recall gave.",
  schema: texts({ text: "One sentence that can be understood alone.", topic: "A word for what it is about." }, "text"),
  async run(scope: Scope, input: RememberInput, signal?: AbortSignal): Promise<string> {
    const { key, outcome } = await scope.add(storableText(input.text), { ...(input.topic && { topic: input.topic }), signal });
    return `${outcome} ${key}`;
  },
};

function texts(about: Record<string, string>, ...required: string[]) {
  const property = (description: string) => ({ type: "string" as const, description });
  const properties = Object.fromEntries(Object.entries(about).map(([name, text]) => [name, property(text)]));
  return { type: "object" as const, properties, required, additionalProperties: false };
}

/** A chat that puts what fits a question before it, and stores what is said. */
export class Chat {
  readonly #context: Options<"context", "query">;
  readonly #store: boolean;
  readonly #topic: string | undefined;
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor({ store = true, topic, onError, ...context }: ChatOptions = {}) {
    this.#context = { max_tokens: 800, ...context };
    this.#store = store;
    this.#topic = topic;
    this.#onError = onError;
  }

  /** Return a prompt whose last message of the user begins with what the memory knows of it. */
  async prompt<M extends Message>(scope: Scope, prompt: M[], signal?: AbortSignal): Promise<M[]> {
    const last = prompt.findLastIndex(({ role }) => role === "user");
    const query = questionText(spokenText(prompt[last]));
    if (!query) return prompt;
    const block = await this.#safe(() => scope.context(query, { ...this.#context, ...(signal && { signal }) }));
    return block?.text ? prompt.map((one, place) => (place === last ? withPart(one, block.text) : one)) : prompt;
  }

  /** Store what was said, in order; blank texts are left out. */
  async add(scope: Scope, turns: Turn[]): Promise<void> {
    const topic = this.#topic === undefined ? {} : { topic: this.#topic };
    const said = turns.map(([role, text]): Turn => [role, storableText(text).trim()]);
    for (const [role, text] of this.#store ? said : [])
      if (text) await this.#safe(() => scope.add(text, { role, ...topic }));
  }

  async #safe<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!this.#onError) throw error;
      this.#onError(error);
      return undefined;
    }
  }
}

/** Return the words of a message. */
export function spokenText(message: Message | undefined): string {
  const { content = "" } = message ?? {};
  if (typeof content === "string") return content.trim();
  return content.flatMap((part) => (part.type === "text" && part.text) || []).join("\n").trim();
}

/** Return a text without the characters that a memory refuses: NUL, and half surrogate pairs. */
function storableText(text: string): string {
  return text.replaceAll("\0", "").replace(/\p{Surrogate}/gu, "?");
}

/** Return the beginning of a question, as much as Python's integrations ask. */
function questionText(text: string): string {
  return [...storableText(text)].slice(0, LONGEST_QUESTION).join("");
}

function withPart<M extends Message>(message: M, text: string): M {
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  return { ...message, content: [{ type: "text", text }, ...parts] };
}

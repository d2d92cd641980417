/** A memory for Mastra (`@mastra/core`): two tools, and a processor that recalls and stores by itself. */

import type {
  ProcessLLMRequestArgs, ProcessLLMRequestResult, ProcessOutputResultArgs, Processor,
} from "@mastra/core/processors";
import type { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import {
  Chat, RECALL, REMEMBER, spokenText, type ChatOptions, type RecallInput, type RememberInput, type Turn,
} from "./chat.ts";
import type { Options, Scope } from "./memory.ts";

export type { ChatOptions } from "./chat.ts";
/** A user's scope, or a function that returns it from the context of a request. */
export type ScopeSource = Scope | ((context: RequestContext | undefined) => Scope);

/** Return the tools `recall` and `remember`; the options are those of `context`. */
export function memoryTools(source: ScopeSource, options: Options<"context", "query"> = {}) {
  return {
    recall: createTool({
      id: "recall",
      description: RECALL.description,
      inputSchema: RECALL.schema,
      execute: (input, { requestContext, abortSignal }) =>
        RECALL.run(scopeOf(source, requestContext), input as RecallInput, {
          max_tokens: 800, ...options, signal: abortSignal ?? options.signal,
        }),
    }),
    remember: createTool({
      id: "remember",
      description: REMEMBER.description,
      inputSchema: REMEMBER.schema,
      execute: (input, { requestContext, abortSignal }) =>
        REMEMBER.run(scopeOf(source, requestContext), input as RememberInput, abortSignal ?? options.signal),
    }),
  };
}

/** A processor for `inputProcessors`, where the user's last message begins with the context block in the prompt
 * alone, and for `outputProcessors`, where what user and assistant said is stored. */
export class MemoryProcessor implements Processor<"pgmnemo"> {
  readonly id = "pgmnemo";
  readonly #source: ScopeSource;
  readonly #chat: Chat;

  constructor(source: ScopeSource, options: ChatOptions = {}) {
    this.#source = source;
    this.#chat = new Chat(options);
  }

  async processLLMRequest(args: ProcessLLMRequestArgs): Promise<ProcessLLMRequestResult> {
    const scope = scopeOf(this.#source, args.requestContext);
    return { prompt: await this.#chat.prompt(scope, args.prompt, args.abortSignal) };
  }

  async processOutputResult({ messages, messageList, result, requestContext }: ProcessOutputResultArgs) {
    const asked = messageList.get.input.db().filter(({ role }) => role === "user");
    const turns = asked.map(({ content }): Turn => ["user", spokenText({ role: "user", content: content.parts })]);
    await this.#chat.add(scopeOf(this.#source, requestContext), [...turns, ["assistant", result.text]]);
    return messages;
  }
}

function scopeOf(source: ScopeSource, context: RequestContext | undefined): Scope {
  return typeof source === "function" ? source(context) : source;
}

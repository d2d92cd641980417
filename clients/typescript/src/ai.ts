/** A memory for the Vercel AI SDK (package `ai`): two tools, and a middleware that recalls and stores by itself. */

import { jsonSchema, tool, type LanguageModelMiddleware, type Tool } from "ai";
import { Chat, RECALL, REMEMBER, spokenText, type ChatOptions, type RecallInput, type RememberInput } from "./chat.ts";
import type { Options, Scope } from "./memory.ts";

export type { ChatOptions } from "./chat.ts";
export type MemoryTools = { recall: Tool<RecallInput, string>; remember: Tool<RememberInput, string> };

/** Return the tools `recall` and `remember` over a user's scope; the options are those of `context`. */
export function memoryTools(scope: Scope, options: Options<"context", "query"> = {}): MemoryTools {
  return {
    recall: tool({
      description: RECALL.description,
      inputSchema: jsonSchema<RecallInput>(RECALL.schema),
      execute: (input, { abortSignal }) =>
        RECALL.run(scope, input, { max_tokens: 800, ...options, signal: abortSignal ?? options.signal }),
    }),
    remember: tool({
      description: REMEMBER.description,
      inputSchema: jsonSchema<RememberInput>(REMEMBER.schema),
      execute: (input, { abortSignal }) => REMEMBER.run(scope, input, abortSignal ?? options.signal),
    }),
  };
}

/** Return a middleware for `wrapLanguageModel`: the user's last message begins with the context block, and what
 * user and assistant say is stored when the answer is complete. */
export function memoryMiddleware(scope: Scope, options: ChatOptions = {}): LanguageModelMiddleware {
  const chat = new Chat(options);
  const questions = new WeakMap<object, string>(); // by the parameters of a call, what the user newly said in it

  const store = (params: object, answer: string, finished: string | undefined): Promise<void> =>
    chat.add(scope, [["user", questions.get(params) ?? ""], ["assistant", finished === "tool-calls" ? "" : answer]]);

  return {
    async transformParams({ params }) {
      const last = params.prompt.at(-1);
      const made = { ...params, prompt: await chat.prompt(scope, params.prompt, params.abortSignal) };
      if (last?.role === "user") questions.set(made, spokenText(last));
      return made;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const answer = spokenText({ role: "assistant", content: result.content });
      await store(params, answer, result.finishReason.unified);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      type Chunk = typeof stream extends ReadableStream<infer C> ? C : never;
      let answer = "";
      let finished: string | undefined;
      const listen = new TransformStream<Chunk, Chunk>({
        transform(chunk, controller) {
          if (chunk.type === "text-delta") answer += chunk.delta;
          if (chunk.type === "finish") finished = chunk.finishReason.unified;
          controller.enqueue(chunk);
        },
        flush: () => store(params, answer, finished),
      });
      return { stream: stream.pipeThrough(listen), ...rest };
    },
  };
}

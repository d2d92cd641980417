/** A fake language model, which gives its answers one after the other. */

import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import assert from "node:assert/strict";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Content = Generated["content"][number];
type Chunk = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer C> ? C : never;

const end = (unified: "stop" | "tool-calls"): Pick<Generated, "finishReason" | "usage"> => ({
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
});
const chunks = (content: Content): Chunk[] =>
  content.type === "text"
    ? [
        { type: "text-start", id: "1" },
        ...content.text.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
        { type: "text-end", id: "1" },
      ]
    : [content as Chunk];

/** Return a call of a tool. */
export const call = (toolName: string, input: object): Content =>
  ({ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) });

/** Return a model of these answers: texts, and calls of tools. */
export function model(...answers: (string | Content)[]): MockLanguageModelV4 {
  const left = answers.map((one): Content => (typeof one === "string" ? { type: "text", text: one } : one));
  const next = () => left.shift() ?? assert.fail("the model was asked too often");
  const finish = ({ type }: Content) => end(type === "text" ? "stop" : "tool-calls");
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const content = next();
      return { content: [content], warnings: [], ...finish(content) };
    },
    doStream: async () => {
      const content = next();
      const parts: Chunk[] = [...chunks(content), { type: "finish", ...finish(content) }];
      return { stream: simulateReadableStream({ chunks: parts }) };
    },
  });
}

/** Return the texts of the user's last message in the model's last call. */
export function asked({ doGenerateCalls, doStreamCalls }: MockLanguageModelV4): string[] {
  const { prompt } = [...doGenerateCalls, ...doStreamCalls].at(-1) ?? assert.fail("the model was not asked");
  const last = prompt.findLast(({ role }) => role === "user") ?? assert.fail("the user said nothing");
  return (last.content as { text: string }[]).map(({ text }) => text);
}

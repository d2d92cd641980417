/** The AI SDK's own generateText and streamText with a fake model, over `mnemo serve`. */

import { generateText, isStepCount, streamText, wrapLanguageModel } from "ai";
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryMiddleware, memoryTools } from "../src/ai.ts";
import { Memory } from "../src/index.ts";
import { asked, call, model } from "./models.ts";
import { server as shared } from "./server.ts";

const server = await shared();

test("a tool call remembers, and another one recalls", async () => {
  const scope = server.scope();
  const tools = memoryTools(scope);
  const fake = model(call("remember", { text: "Ada sails a red boat.", topic: "boats" }), "Noted.");
  const kept = await generateText({ model: fake, tools, stopWhen: isStepCount(3), prompt: "I sail a red boat." });
  assert.equal(kept.text, "Noted.");
  const [lesson] = await scope.list();
  assert.deepEqual([lesson?.text, lesson?.topic, lesson?.role], ["Ada sails a red boat.", "boats", null]);
  const other = model(call("recall", { query: "Which boat?" }), "A red one.");
  const found = await generateText({ model: other, tools, stopWhen: isStepCount(3), prompt: "Which boat do I sail?" });
  assert.match(String(found.steps[0]?.toolResults[0]?.output), /> Ada sails a red boat\./);
});

test("an error of the memory is the tool's answer to the model", async () => {
  const tools = memoryTools(new Memory({ url: server.url }).project("kitchen"));
  const fake = model(call("recall", { query: "x" }), "I cannot.");
  const done = await generateText({ model: fake, tools, stopWhen: isStepCount(3), prompt: "x" });
  assert.equal(done.text, "I cannot.");
  assert.match(JSON.stringify(fake.doGenerateCalls.at(-1)?.prompt), /send a token/);
});

test("the middleware recalls and stores, and its blocks are not stored", async () => {
  const scope = server.scope();
  const wrap = (fake: ReturnType<typeof model>, topic: string) =>
    wrapLanguageModel({ model: fake, middleware: memoryMiddleware(scope, { topic }) });
  const monday = model("A fine boat!");
  await generateText({ model: wrap(monday, "monday"), prompt: "I sail a red boat." });
  assert.deepEqual(asked(monday), ["I sail a red boat."]);
  const tuesday = model("Red.");
  const messages = [{ role: "user" as const, content: "Hello." }, { role: "assistant" as const, content: "Hello!" }];
  await generateText({
    model: wrap(tuesday, "tuesday"), system: "Be brief.",
    messages: [...messages, { role: "user", content: "What colour is my boat?" }],
  });
  const [block = "", question] = asked(tuesday);
  assert.match(block, /^<memory>[^]*> I sail a red boat\.[^]*<\/memory>$/m);
  assert.equal(question, "What colour is my boat?");
  assert.deepEqual((await scope.list()).map(({ role, topic, text }) => [role, topic, text]), [
    ["user", "monday", "I sail a red boat."], ["assistant", "monday", "A fine boat!"],
    ["user", "tuesday", "What colour is my boat?"], ["assistant", "tuesday", "Red."],
  ]);
});

test("a turn of several steps is stored once, and each step sees the context", async () => {
  const scope = server.scope();
  await scope.add("Ada sails a red boat.");
  const fake = model(call("recall", { query: "boat" }), "Red.");
  const wrapped = wrapLanguageModel({ model: fake, middleware: memoryMiddleware(scope) });
  await generateText({ model: wrapped, tools: memoryTools(scope), stopWhen: isStepCount(3), prompt: "Which boat?" });
  assert.equal(fake.doGenerateCalls.length, 2);
  assert.match(asked(fake)[0] ?? "", /red boat/);
  assert.deepEqual((await scope.list()).map(({ text }) => text), ["Ada sails a red boat.", "Which boat?", "Red."]);
});

test("a streamed answer is stored when it is whole", async () => {
  const scope = server.scope();
  const fake = model("A fine boat!");
  const wrapped = wrapLanguageModel({ model: fake, middleware: memoryMiddleware(scope) });
  const { textStream } = streamText({ model: wrapped, prompt: "I sail a red boat." });
  let text = "";
  for await (const part of textStream) text += part;
  assert.equal(text, "A fine boat!");
  assert.deepEqual((await scope.list()).map((one) => one.text), ["I sail a red boat.", "A fine boat!"]);
});

test("what a memory does not take, a chat goes on with", async () => {
  const scope = server.scope();
  await scope.add("Ada sails a red boat.");
  const wrap = (fake: ReturnType<typeof model>) =>
    wrapLanguageModel({ model: fake, middleware: memoryMiddleware(scope) });
  const long = `Which boat? ${"⛵ ".repeat(55_000)}`; // 165,012 code units
  const odd = "A red \0boat \ud800 ⛵.";
  const fake = model(odd, call("recall", { query: long }), call("remember", { text: odd }), "Red.");
  assert.equal((await generateText({ model: wrap(fake), prompt: long })).text, odd);
  assert.match(asked(fake)[0] ?? "", /> Ada sails a red boat\./);
  const tools = memoryTools(scope);
  const { steps } = await generateText({ model: wrap(fake), prompt: odd, tools, stopWhen: isStepCount(3) });
  assert.match(String(steps[0]?.toolResults[0]?.output), /> Ada sails a red boat\./);
  assert.match(String(steps[1]?.toolResults[0]?.output), /^(added|unchanged|echo) /);
  const texts = (await scope.list()).map(({ text }) => text);
  assert.deepEqual([texts[1], new Set(texts.slice(2))], [long.trim(), new Set(["A red boat ? ⛵.", "Red."])]);
});

test("two users never see each other", async () => {
  const [ada, bob] = [server.scope(), server.scope()];
  await ada.add("My secret is a red boat.");
  const fake = model("None.");
  const wrapped = wrapLanguageModel({ model: fake, middleware: memoryMiddleware(bob) });
  await generateText({ model: wrapped, prompt: "Which boat?" });
  assert.deepEqual(asked(fake), ["Which boat?"]);
  assert.equal((await ada.list()).length, 1);
});

test("a memory that fails ends the call, or is told to onError", async () => {
  const scope = new Memory({ url: server.url }).project("kitchen");
  const errors: unknown[] = [];
  const wrap = (onError?: (error: unknown) => void) =>
    wrapLanguageModel({ model: model("Hello!"), middleware: memoryMiddleware(scope, { ...(onError && { onError }) }) });
  await assert.rejects(generateText({ model: wrap(), prompt: "Hello.", maxRetries: 0 }), /send a token/);
  const { text } = await generateText({ model: wrap((error) => errors.push(error)), prompt: "Hello." });
  assert.equal(text, "Hello!");
  assert.deepEqual(errors.map((error) => (error as Error).name), ["TokenError", "TokenError", "TokenError"]);
});

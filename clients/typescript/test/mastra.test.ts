/** Mastra's own Agent with a fake model, over `mnemo serve`. */

import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { MockMemory } from "@mastra/core/memory";
import { RequestContext } from "@mastra/core/request-context";
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProcessor, memoryTools } from "../src/mastra.ts";
import type { Scope } from "../src/index.ts";
import { asked, call, model } from "./models.ts";
import { server as shared } from "./server.ts";

type Model = ReturnType<typeof model>;
const named = (fake: Model) =>
  ({ id: "guide", name: "guide", instructions: "Be brief.", model: fake as unknown as MastraModelConfig });

const server = await shared();

function chat(scope: Scope, fake: Model): Agent {
  const memory = new MemoryProcessor(scope);
  return new Agent({
    ...named(fake), tools: memoryTools(scope),
    inputProcessors: [memory], outputProcessors: [memory],
  });
}

test("an agent stores what is said, and another one is told of it", async () => {
  const scope = server.scope();
  await chat(scope, model("A fine boat!")).generate("I sail a red boat.");
  assert.deepEqual((await scope.list()).map(({ role, text }) => [role, text]),
    [["user", "I sail a red boat."], ["assistant", "A fine boat!"]]);
  const fake = model("Red.");
  const { text } = await chat(scope, fake).generate("What colour is my boat?");
  assert.equal(text, "Red.");
  const [block = "", question] = asked(fake);
  assert.match(block, /^<memory>[^]*> I sail a red boat\.[^]*<\/memory>$/m);
  assert.equal(question, "What colour is my boat?");
  assert.deepEqual((await scope.list()).map(({ text: said }) => said),
    ["I sail a red boat.", "A fine boat!", "What colour is my boat?", "Red."]);
});

test("a streamed turn of several steps is stored once", async () => {
  const scope = server.scope();
  await scope.add("Ada sails a red boat.");
  const fake = model(call("recall", { query: "boat" }), "A red one.");
  const { textStream } = await chat(scope, fake).stream("Which boat?");
  let text = "";
  for await (const part of textStream) text += part;
  assert.equal(text, "A red one.");
  assert.match(asked(fake)[0] ?? "", /red boat/);
  assert.deepEqual((await scope.list()).map((one) => one.text), ["Ada sails a red boat.", "Which boat?", "A red one."]);
});

test("tools remember and recall", async () => {
  const scope = server.scope();
  const agent = (fake: Model) =>
    new Agent({ ...named(fake), tools: memoryTools(scope) });
  await agent(model(call("remember", { text: "Ada sails a red boat." }), "Noted.")).generate("Note it.");
  assert.deepEqual((await scope.list()).map(({ text }) => text), ["Ada sails a red boat."]);
  const fake = model(call("recall", { query: "boat" }), "Red.");
  await agent(fake).generate("Which boat?");
  assert.match(JSON.stringify(fake.doGenerateCalls.at(-1)?.prompt), /> Ada sails a red boat\./);
});

test("one agent serves the user of each request", async () => {
  const scopes = { ada: server.scope(), bob: server.scope() };
  const memory = new MemoryProcessor((context) => scopes[context?.get("user") as "ada" | "bob"]);
  const fake = model("Nice.", "I do not know.");
  const agent = new Agent({
    ...named(fake), inputProcessors: [memory], outputProcessors: [memory],
  });
  const as = (user: string) => ({ requestContext: new RequestContext([["user", user]]) });
  await agent.generate("I sail a red boat.", as("ada"));
  await agent.generate("Which boat do I sail?", as("bob"));
  assert.deepEqual(asked(fake), ["Which boat do I sail?"]);
  assert.deepEqual((await scopes.bob.list()).map(({ text }) => text), ["Which boat do I sail?", "I do not know."]);
  assert.equal((await scopes.ada.list()).length, 2);
});

test("it stands beside Mastra's own memory of a thread", async () => {
  const scope = server.scope();
  const memory = new MemoryProcessor(scope);
  const fake = model("A fine boat!", "Red.");
  const agent = new Agent({
    ...named(fake), memory: new MockMemory(), inputProcessors: [memory], outputProcessors: [memory],
  });
  const thread = { memory: { thread: "monday", resource: "ada" } };
  await agent.generate("I sail a red boat.", thread);
  await agent.generate("What colour is my boat?", thread);
  const roles = fake.doGenerateCalls.at(-1)?.prompt.map(({ role }) => role);
  assert.deepEqual(roles, ["system", "user", "assistant", "user"]);
  assert.match(asked(fake)[0] ?? "", /> I sail a red boat\./);
  assert.deepEqual((await scope.list()).map(({ text }) => text),
    ["I sail a red boat.", "A fine boat!", "What colour is my boat?", "Red."]);
});

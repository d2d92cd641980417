/** The example of a chat, with a service that quotes what it was told. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { json } from "node:stream/consumers";
import { server as shared } from "./server.ts";

const { url, token } = await shared();
const service = createServer(async (request, response) => {
  const { messages } = (await json(request)) as { messages: { role: string; content: string }[] };
  const note = messages[0]?.content.match(/^> (.*)$/m)?.[1] ?? "nothing";
  const content = `${messages.length} messages, and from memory: ${note}`;
  response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }));
});
await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
after(() => service.close());

function chat(said: string, mnemo_token: string): Promise<{ out: string; complaints: string }> {
  const model = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = { ...process.env, MNEMO_URL: url, MNEMO_TOKEN: mnemo_token, MODEL_URL: model };
  return new Promise((resolve, reject) => {
    const program = execFile(process.execPath, ["examples/chat.ts"], { env }, (error, out, complaints) =>
      error ? reject(error) : resolve({ out, complaints }));
    program.stdin?.end(said);
  });
}

test("the chat remembers in its next run", async () => {
  const mine = token("chatter");
  const first = await chat("I sail a red boat.\nIt leaks.\n", mine);
  assert.match(first.out, /^2 messages, and from memory: nothing\n4 messages/);
  assert.equal(first.complaints, "");
  const second = await chat("Which boat do I sail?\n", mine);
  assert.equal(second.out, "2 messages, and from memory: I sail a red boat.\n");
});

test("what is wrong is a line", async () => {
  const { complaints } = await chat("Hello.\n", "mnemo_x_y");
  assert.match(complaints, /^that did not work: this token [^\n]+\n$/);
});

/** Every verb against `mnemo serve`, and what a careless caller reads. */

import assert from "node:assert/strict";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  GrantError, LostError, Memory, MissingError, PgmnemoError, Scope, ServerError, TokenError, UsageError, type Verb,
} from "../src/index.ts";
import { serve, server as shared } from "./server.ts";

const FIRST: Partial<Record<Verb, string[]>> = { recall: ["query"], context: ["query"], forget: ["key"] };
const COMPLETE: [Exclude<Verb, keyof Scope>] extends [never] ? true : false = true; // by the compiler
const server = await shared();

const all = async (lines: AsyncIterable<string>): Promise<string[]> => {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return found;
};
async function listening(made: HttpServer): Promise<{ server: HttpServer; url: string }> {
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return { server: made, url: `http://127.0.0.1:${(made.address() as AddressInfo).port}` };
}
const failure = async (work: () => Promise<unknown>): Promise<PgmnemoError> => {
  const error = await work().then(() => assert.fail("it did not fail"), (thrown: unknown) => thrown);
  assert.ok(error instanceof PgmnemoError, String(error));
  assert.doesNotMatch(error.message, /[\n.]$|\n/, "one sentence");
  return error;
};

test("the program of the page", async () => {
  const me = new Memory({ url: server.url, token: server.token("ada") }).project("kitchen");
  await me.add("I moved to Lisbon in May.", { role: "user" });
  await me.add("My cat is called Miso.", { role: "user" });
  const [hit] = await me.recall("Where did I move to?", { k: 1 });
  assert.equal(hit?.text, "I moved to Lisbon in May.");
  assert.match(hit?.why ?? "", /^fit/);
});

test("every verb sends the example of the OpenAPI as it is, and answers what it describes", async () => {
  assert.ok(COMPLETE);
  const { paths, components } = await (await fetch(`${server.url}/openapi.json`)).json();
  const bodies: unknown[] = [];
  const spy: typeof fetch = (url, init) => (bodies.push(JSON.parse(String(init?.body))), fetch(url, init));
  const scope = new Memory({ url: server.url, token: server.token("openapi"), fetch: spy }).project("kitchen");
  const called = Object.entries<any>(paths).flatMap(([path, { post }]) => (post ? [[path, post] as const] : []));
  assert.ok(called.length > 20);
  for (const [path, { operationId, requestBody, responses }] of called) {
    const verb = operationId as Verb;
    const { schema, example } = requestBody.content["application/json"];
    const required: string[] = components.schemas[schema.$ref.split("/").pop()].required;
    const first = new Set([...required, ...(FIRST[verb] ?? [])]);
    const rest = Object.fromEntries(Object.entries(example).filter(([name]) => !first.has(name)));
    const verbs = scope as unknown as Record<Verb, (...given: unknown[]) => unknown>;
    const found = verbs[verb](...[...first].map((name) => example[name]), rest);
    const answer = verb === "export" ? await all(found as AsyncIterable<string>) : await found;
    assert.deepEqual(bodies.pop(), { project: "kitchen", ...example }, path);
    const described = Object.values<any>(responses["200"].content)[0].schema;
    const kind = components.schemas[(described.$ref ?? described.items?.$ref ?? "").split("/").pop()];
    const one = Array.isArray(answer) ? answer[0] : answer;
    if (kind && one) assert.deepEqual(Object.keys(one as object).sort(), [...kind.required].sort(), path);
    assert.equal(described.type === "array" || verb === "export", Array.isArray(answer), path);
  }
});

test("an export comes line by line, whole, and may be left in the middle", async () => {
  const scope = server.scope();
  const texts = Array.from({ length: 150 }, (_, number) => `Note ${number}: ${"é".repeat(1_000)}`);
  await scope.add_many(texts);
  const lines = await all(scope.export({ vectors: false }));
  const found = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "lesson");
  assert.deepEqual(found.map(({ text }) => text).sort(), texts.sort());
  for await (const line of scope.export()) {
    assert.ok(JSON.parse(line).pgmnemo);
    break;
  }
  await all(scope.export()); // one export of a token at a time: the first has ended
});

test("a wrong url says so at once", async () => {
  const token = server.token("ada");
  const add = (url: string) => () => new Memory({ url, token }).project("kitchen").add("x");
  const began = Date.now();
  const free = await listening(createServer());
  free.server.close();
  const error = await failure(add(free.url));
  assert.ok(error instanceof LostError);
  assert.match(error.message, /127\.0\.0\.1:\d+ failed \(ECONNREFUSED\); check the url/);
  for (const url of ["127.0.0.1:7437", "ftp://here", "", "http://a:b@here"])
    assert.throws(() => new Memory({ url }), { name: "UsageError", message: /7437/ });
  assert.throws(() => new (Memory as unknown as new () => Memory)(), UsageError);
  assert.ok(Date.now() - began < 15_000);
  await add(`${server.url}/v1/`)();
  const other = await failure(add(`${server.url}/elsewhere`));
  assert.match(other.message, /no such path/);
});

test("no token, a strange one, one of another project, a revoked one", async () => {
  const scope = (token?: string) => new Memory({ url: server.url, ...(token && { token }) }).project("kitchen");
  const none = await failure(() => scope().recall("x"));
  assert.ok(none instanceof TokenError);
  assert.match(none.message, /mnemo token make/);
  assert.throws(() => scope("mnemo_…"), { name: "UsageError", message: /token/ });
  const own = server.token("ada", "garden");
  assert.ok((await failure(() => scope(own).recall("x"))) instanceof GrantError);
  const token = server.token("ada");
  await scope(`${token}\n`).count();
  server.revoke(token);
  const revoked = await failure(() => scope(token).recall("x"));
  assert.deepEqual([revoked.name, revoked.status, revoked.kind], ["TokenError", 401, "no token"]);
  assert.match(revoked.message, /revoked/);
});

test("what is wrong in a call is the server's sentence", async () => {
  const scope = server.scope();
  const cases: [() => Promise<unknown>, typeof PgmnemoError, number, RegExp][] = [
    [() => scope.add("x ".repeat(1_000_000)), UsageError, 413, /1,048,576 bytes; send less/],
    [() => scope.get("nothere"), MissingError, 404, /no lesson of this key/],
    [() => scope.recall("x", { k: 0 }), UsageError, 422, /k/],
    [() => scope.add(""), UsageError, 422, /text/],
    [() => scope.forget(), UsageError, 422, /key/],
    [() => new Memory({ url: server.url, token: server.token("ada") }).add("x"), UsageError, 422, /project/],
  ];
  for (const [call, kind, status, sentence] of cases) {
    const error = await failure(call);
    assert.ok(error instanceof kind, error.name);
    assert.equal(error.status, status);
    assert.match(error.message, sentence);
  }
  assert.throws(() => scope.project(" "), UsageError);
});

test("a deadline is the caller's signal", async () => {
  await assert.rejects(server.scope().recall("x", { signal: AbortSignal.timeout(0) }), { name: "TimeoutError" });
});

test("a server that goes says what may have happened", async () => {
  const going = await serve();
  const token = going.token("ada");
  const scope = new Memory({ url: going.url, token, retry_timeout: 300 }).project("kitchen");
  await scope.count();
  await going.stop("SIGKILL");
  for (const call of [() => scope.count(), () => scope.add("x")])
    assert.match((await failure(call)).message, /check the url/);
});

test("an export that is cut off says so", async () => {
  const half = await listening(createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/jsonl" }).write('{"kind": "les', () => response.destroy());
  }));
  const cut = await failure(() => all(new Memory({ url: half.url }).export()));
  assert.ok(cut instanceof LostError);
  assert.match(cut.message, /not all of it/);
  half.server.close();
});

test("another program at the address is named", async () => {
  const headers = { "content-type": "text/html" };
  const page = (status: number): typeof fetch => async () => new Response("<html>", { status, headers });
  for (const status of [200, 404, 502]) {
    const memory = new Memory({ url: "http://here", fetch: page(status) });
    for (const call of [() => memory.count(), () => all(memory.export())]) {
      const error = await failure(call);
      assert.ok(error instanceof ServerError);
      assert.equal(error.status, status);
      assert.match(error.message, /mnemo serve/);
    }
  }
});

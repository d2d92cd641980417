/** Which calls are repeated, and until when, by a `fetch` that fails by a script. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isRepeatable } from "../src/http.ts";
import { BusyError, ConflictError, LostError, Memory, ServerError, type Scope, type Verb } from "../src/index.ts";

type Event = "ok" | "lost" | "refused" | "cut" | readonly [status: number, kind: string, after?: string];

const REFUSED = Object.assign(new Error("no"), { code: "ECONNREFUSED" });

/** Return a scope whose server answers once and then as the events say; `left` are the events still to come. */
const scripted = (...events: Event[]) => scriptedFor(30_000, ...events);

async function scriptedFor(retry_timeout: number, ...events: Event[]): Promise<{ scope: Scope; left: Event[] }> {
  const left: Event[] = ["ok", ...events];
  const send: typeof fetch = async (_, init) => {
    init?.signal?.throwIfAborted();
    const event = left.shift() ?? "ok";
    if (event === "ok") return Response.json({ lessons: 1, hidden: 0 });
    if (event === "lost") throw new TypeError("fetch failed", { cause: new Error("other side closed") });
    if (event === "refused") throw new TypeError("fetch failed", { cause: REFUSED });
    if (event === "cut") return new Response(new ReadableStream({ start: (body) => body.error(new TypeError("cut")) }));
    const [status, kind, after = "0.01"] = event;
    return Response.json({ error: { kind, message: "no" } }, { status, headers: { "retry-after": after } });
  };
  const scope = new Memory({ url: "http://here", fetch: send, retry_timeout });
  await scope.count();
  return { scope, left };
}

const BUSY: Event[] = ["refused", [503, "busy"], [429, "busy"]];
const UNSURE: Event[] = ["lost", "cut", [503, "too slow"]];

test("what was surely not done is repeated, whatever it was", async () => {
  const { scope, left } = await scripted(...BUSY);
  await scope.add("x");
  assert.equal(left.length, 0);
});

test("what may have been done is repeated if it may be done twice", async () => {
  const { scope, left } = await scripted(...UNSURE, ...UNSURE);
  await scope.add("x", { key: "k" });
  assert.equal(left.length, 0);
});

test("what may have been done is not repeated without a key", async () => {
  for (const event of UNSURE) {
    const { scope } = await scripted(event);
    const error = await scope.add("x").catch((thrown: unknown) => thrown);
    assert.ok(error instanceof LostError || error instanceof ServerError, String(error));
    if (error instanceof LostError) assert.match(error.message, /not known.*key/);
  }
});

test("what counts once more is not repeated", async () => {
  for (const event of UNSURE) {
    const { scope, left } = await scripted(event, "ok");
    await assert.rejects(scope.used("k"), event === UNSURE[2] ? ServerError : LostError);
    assert.deepEqual(left, ["ok"]);
  }
  assert.deepEqual((["used", "wrong", "update"] as const).map((verb) => isRepeatable(verb, { key: "k" })), [false, false, true]);
});

test("an error of the call is not repeated", async () => {
  const { scope, left } = await scripted([409, "error"], "ok");
  await assert.rejects(scope.count(), ConflictError);
  assert.deepEqual(left, ["ok"]);
});

test("retries end with their time, with the server's wait, and with the signal", async () => {
  const forever = Array<Event>(1_000).fill("lost");
  const began = performance.now();
  await assert.rejects((await scriptedFor(1_000, ...forever)).scope.count(), LostError);
  assert.ok(performance.now() - began < 5_000);
  const busy = await scripted([429, "busy", "60"]); // longer than the retries may take
  const error = await busy.scope.count().catch((thrown: unknown) => thrown);
  assert.ok(error instanceof BusyError);
  assert.equal(error.wait, 60_000);
  const signal = AbortSignal.timeout(100);
  await assert.rejects((await scripted([429, "busy", "0.9"])).scope.count({ signal }), { name: "TimeoutError" });
  assert.ok(performance.now() - began < 10_000);
});

test("a server that never answered is not waited for", async () => {
  let tries = 0;
  const send: typeof fetch = async () => (tries++, Promise.reject(new TypeError("fetch failed")));
  await assert.rejects(new Memory({ url: "http://here", fetch: send }).count(), LostError);
  assert.equal(tries, 1);
});

test("which calls may be repeated", () => {
  const { REPEATABLE } = process.env; // calls of the Python client: [verb, body, whether it repeats the call]
  const calls: [Verb, Record<string, unknown>, boolean][] = JSON.parse(REPEATABLE ?? "[]");
  for (const [verb, body, repeatable] of calls)
    assert.equal(isRepeatable(verb, body), repeatable, `${verb} ${JSON.stringify(body)}`);
});

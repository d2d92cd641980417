/** Send calls over HTTP, and repeat those that may be sent twice. */

import { LostError, PgmnemoError, UsageError, notMnemo, responseError } from "./errors.ts";
import type { operations } from "./openapi.ts";

export type Verb = Exclude<keyof operations, "health" | "openapi">;
type Content<T> = T extends { content: infer C } ? C[keyof C] : never;
export type Body<V extends Verb> = Content<NonNullable<operations[V]["requestBody"]>>;
export type Answer<V extends Verb> = Content<operations[V]["responses"][200]>;
type Sent = { readonly [name: string]: unknown };
type Call<T> = { verb: Verb; body: Sent; signal: AbortSignal | undefined; read: (response: Response) => Promise<T> };

/** The options of a memory. */
export interface MemoryOptions {
  /** The address of `mnemo serve`, such as http://127.0.0.1:7437. */
  url: string | URL;
  /** A token of `mnemo token make`; a server without tokens needs none. */
  token?: string | undefined;
  /** Milliseconds during which a failed call is repeated: 30,000 if not given. */
  retry_timeout?: number;
  /** A `fetch` to use in place of the global one. */
  fetch?: typeof fetch;
}

const NO_TOKEN = "; `mnemo token make` prints one for `new Memory({ url, token })`";
// How Node, and after it Deno, say that a request was never sent.
const UNSENT = /REFUSED|NOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|UNREACH|bad port|connection refused|dns error/i;
const UNKNOWN = "whether it was stored is not known: look, or add with a key, which is sent again";
const CHECK = "check the url, and that `mnemo serve` runs there";
const FIRST = 20; // milliseconds: limits of the first pause, and of any
const LONGEST = 2_000;

const ONCE: readonly Verb[] = ["add_many", "used", "wrong"]; // a second call stores or counts again

/** Return whether a call does no more if it is sent twice. The Python client repeats the same calls, but of `used`
 * and `wrong` the write of what it counted. */
export function isRepeatable(verb: Verb, body: Sent): boolean {
  if (verb === "add") return body["key"] != null;
  if (verb === "forget") return body["key"] != null || body["dry_run"] === true;
  return !ONCE.includes(verb);
}

/** A connection to a server. A server that has never answered is not waited for: its address may be wrong. */
export class Connection {
  readonly #base: URL;
  readonly #headers: Headers;
  readonly #retryTimeout: number;
  readonly #fetch: typeof fetch;
  #reached = false;

  constructor({ url, token, retry_timeout = 30_000, fetch: send = fetch } = {} as MemoryOptions) {
    this.#base = baseUrl(url);
    this.#headers = requestHeaders(token);
    this.#retryTimeout = retry_timeout;
    this.#fetch = (...given) => send(...given);
  }

  /** Return the answer of a verb. */
  async call<V extends Verb>(verb: V, body: Sent, signal?: AbortSignal): Promise<Answer<V>> {
    return this.#retried({ verb, body, signal, read: answerOf<V> });
  }

  /** Yield the lines of an answer; a call is repeated only before its first line. */
  async *lines(verb: Verb, body: Sent, signal?: AbortSignal): AsyncGenerator<string, void, void> {
    const stream = await this.#retried({ verb, body, signal, read: linesOf });
    const reader = stream?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
      if (rest) yield rest;
    } catch (error) {
      throw signal?.aborted ? error : this.#lost(error, "what came is not all of it: call it again");
    } finally {
      await reader?.cancel().catch(() => undefined);
    }
  }

  async #retried<T>(call: Call<T>): Promise<T> {
    const end = Date.now() + this.#retryTimeout;
    for (let limit = FIRST; ; limit = Math.min(2 * limit, LONGEST)) {
      try {
        return await this.#tried(call);
      } catch (error) {
        if (!(error instanceof PgmnemoError) || !this.#reached || !isPassing(error, call)) throw error;
        const wait = Math.max(Math.random() * limit, error.wait);
        if (Date.now() + wait > end) throw error;
        await pause(wait, call.signal);
      }
    }
  }

  async #tried<T>({ verb, body, signal, read }: Call<T>): Promise<T> {
    const request = { method: "POST", headers: this.#headers, body: JSON.stringify(body), signal: signal ?? null };
    try {
      const response = await this.#fetch(new URL(`v1/${verb}`, this.#base), request);
      this.#reached = true;
      if (response.ok) return await read(response);
      throw await responseError(response, this.#headers.has("authorization") ? "" : NO_TOKEN);
    } catch (error) {
      if (signal?.aborted || error instanceof PgmnemoError) throw error;
      throw this.#lost(error, isRepeatable(verb, body) ? "" : UNKNOWN);
    }
  }

  #lost(error: unknown, mend: string): LostError {
    const { cause, message } = error instanceof Error ? error : new Error(String(error));
    const why = cause instanceof Error ? String(("code" in cause && cause.code) || cause.message) : message;
    const unsent = UNSENT.test(why);
    const sentence = `the connection to ${this.#base.origin} failed (${why}); ${(!unsent && mend) || CHECK}`;
    return new LostError(sentence, 0, unsent ? "unsent" : "lost", { cause: error });
  }
}

/** Return whether to repeat a call: the server was busy, or the connection failed and the call is repeatable. */
function isPassing({ kind, status }: PgmnemoError, { verb, body }: Call<unknown>): boolean {
  if (kind === "busy" || kind === "unsent") return true;
  return isRepeatable(verb, body) && (kind === "lost" || status === 503);
}

async function answerOf<V extends Verb>(response: Response): Promise<Answer<V>> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer<V>;
  } catch {
    throw notMnemo(response, "no JSON");
  }
}

async function linesOf(response: Response): Promise<Response["body"]> {
  const type = response.headers.get("content-type");
  if (type?.startsWith("application/jsonl")) return response.body;
  await response.body?.cancel();
  throw notMnemo(response, `${type ?? "no content type"} to an export`);
}

function pause(wait: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      signal?.aborted ? reject(signal.reason) : resolve();
    };
    const timer = setTimeout(end, wait);
    signal?.addEventListener("abort", end);
  });
}

/** Return the address below which /v1 is; a path of a proxy is kept. */
function baseUrl(url: string | URL): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password)
    throw new UsageError(`url is "${url}", but must be that of \`mnemo serve\`, such as http://127.0.0.1:7437`);
  base.pathname = base.pathname.replace(/(\/v1)?\/*$/, "/");
  return base;
}

function requestHeaders(token: string | undefined): Headers {
  const headers = new Headers({ "content-type": "application/json" });
  if (token === undefined) return headers;
  if (!/^[!-~]+$/.test(token.trim()))
    throw new UsageError("the token is not one line of letters and digits: give what `mnemo token make` printed");
  headers.set("authorization", `Bearer ${token.trim()}`);
  return headers;
}

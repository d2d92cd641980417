/** The verbs of a memory, with the names and arguments of the HTTP interface. */

import { UsageError } from "./errors.ts";
import { Connection, type Answer, type Body, type MemoryOptions, type Verb } from "./http.ts";

/** An argument of a verb. */
export type Argument<V extends Verb, Name extends keyof Body<V>> = Body<V>[Name];
/** The other arguments of a verb, and the signal that ends the call: `AbortSignal.timeout(5_000)`. */
export type Options<V extends Verb, Given extends PropertyKey = never> = Omit<Body<V>, Given | "project"> & {
  signal?: AbortSignal | undefined;
};

/** The lessons of a tenant, or of one of its projects; writing needs a project. */
export class Scope {
  readonly #connection: Connection;
  readonly #project: string | undefined;

  constructor(connection: Connection, project?: string) {
    this.#connection = connection;
    this.#project = project;
  }

  /** Return the scope of one project of the tenant. */
  project(name: string): Scope {
    if (typeof name !== "string" || !name.trim())
      throw new UsageError(`a project is named by a text, not ${JSON.stringify(name) ?? name}`);
    return new Scope(this.#connection, name);
  }

  /** Store a text, or a conversation as one lesson; with a `key` it may be stored again. */
  add(text: Argument<"add", "text">, options: Options<"add", "text"> = {}) {
    return this.#call("add", { ...options, text });
  }

  /** Store many lessons, `batch` of them in each transaction. */
  add_many(items: Argument<"add_many", "items">, options: Options<"add_many", "items"> = {}) {
    return this.#call("add_many", { ...options, items });
  }

  /** Return the `k` lessons that best answer a question, best first. */
  recall(query?: Argument<"recall", "query">, options: Options<"recall", "query"> = {}) {
    return this.#call("recall", { ...options, query });
  }

  /** Return recalled lessons as quoted data for a prompt, of at most `max_tokens`. */
  context(query?: Argument<"context", "query">, options: Options<"context", "query"> = {}) {
    return this.#call("context", { ...options, query });
  }

  /** Return the lesson with a key, forgotten or not; a MissingError if there is none. */
  get(key: string, options: Options<"get", "key"> = {}) {
    return this.#call("get", { ...options, key });
  }

  /** Record that a lesson was of use; three uses raise its importance by 1. */
  used(key: string, options: Options<"used", "key"> = {}) {
    return this.#call("used", { ...options, key });
  }

  /** Record that a lesson was wrong; it lowers its importance by 1. */
  wrong(key: string, options: Options<"wrong", "key"> = {}) {
    return this.#call("wrong", { ...options, key });
  }

  /** Return the lessons in the order in which they were stored. */
  list(options: Options<"list"> = {}) {
    return this.#call("list", options);
  }

  /** Return the number of lessons. */
  count(options: Options<"count"> = {}) {
    return this.#call("count", options);
  }

  /** Change the given fields of a lesson, never its text. */
  update(key: string, options: Options<"update", "key">) {
    return this.#call("update", { ...options, key });
  }

  /** Forget the lesson with a key, or the lessons that `filter` or `all_lessons` name. */
  forget(key?: Argument<"forget", "key">, options: Options<"forget", "key"> = {}) {
    return this.#call("forget", { ...options, key });
  }

  /** Replace the lesson `old` by `new`, or without it only end `old`. */
  supersede(old: string, options: Options<"supersede", "old"> = {}) {
    return this.#call("supersede", { ...options, old });
  }

  /** Undo the supersession of a lesson. */
  undo_supersede(old: string, options: Options<"undo_supersede", "old"> = {}) {
    return this.#call("undo_supersede", { ...options, old });
  }

  /** Return a lesson with its predecessors and successors, oldest first. */
  timeline(key: string, options: Options<"timeline", "key"> = {}) {
    return this.#call("timeline", { ...options, key });
  }

  /** State a fact; with `exclusive` it ends the subject's other facts of this relation. */
  fact(
    subject: string, relation: string, object: string,
    options: Options<"fact", "subject" | "relation" | "object"> = {},
  ) {
    return this.#call("fact", { ...options, subject, relation, object });
  }

  /** Return the facts that hold, of a subject, a relation or an object if they are given. */
  facts(options: Options<"facts"> = {}) {
    return this.#call("facts", options);
  }

  /** End the facts of a subject and a relation, or only that of `object`. */
  end_fact(subject: string, relation: string, options: Options<"end_fact", "subject" | "relation"> = {}) {
    return this.#call("end_fact", { ...options, subject, relation });
  }

  /** Link two lessons of the project. */
  link(source: string, target: string, options: Options<"link", "source" | "target"> = {}) {
    return this.#call("link", { ...options, source, target });
  }

  /** Remove a link. */
  unlink(source: string, target: string, options: Options<"unlink", "source" | "target"> = {}) {
    return this.#call("unlink", { ...options, source, target });
  }

  /** Return why a lesson ranks where it does for a question, or is not found. */
  explain(key: string, options: Options<"explain", "key"> = {}) {
    return this.#call("explain", { ...options, key });
  }

  /** Return pairs of lessons that say nearly the same. */
  similar(options: Options<"similar"> = {}) {
    return this.#call("similar", options);
  }

  /** Return what is stored, in numbers. */
  stats(options: Options<"stats"> = {}) {
    return this.#call("stats", options);
  }

  /** Yield the lines of an export as they are sent; written to a file, `mnemo import` reads them. */
  export(options: Options<"export"> = {}): AsyncGenerator<string, void, void> {
    const { signal, ...body } = options;
    return this.#connection.lines("export", { project: this.#project, ...body }, signal);
  }

  #call<V extends Verb>(verb: V, { signal, ...body }: Options<V>): Promise<Answer<V>> {
    return this.#connection.call(verb, { project: this.#project, ...body }, signal);
  }
}

/** A memory behind `mnemo serve`: the tenant of its token. */
export class Memory extends Scope {
  constructor(options: MemoryOptions) {
    super(new Connection(options));
  }
}

/** Errors: one sentence each, which says what is wrong, where, and how to mend it. */

import type { ErrorDetail } from "./openapi.ts";

/** Base of all errors; `status` is that of the HTTP response, 0 if there was none. */
export class PgmnemoError extends Error {
  constructor(message: string, status?: number, kind?: string, options: ErrorOptions & { wait?: number } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.status = status ?? 0;
    this.kind = kind ?? "error";
    this.wait = options.wait ?? 0;
  }
  readonly status: number;
  readonly kind: string;
  /** The milliseconds after which the server asks to call again, else 0. */
  readonly wait: number;
}

/** The call is wrong, or the memory refuses what is in it (400, 405, 413, 415, 422). */
export class UsageError extends PgmnemoError {}
/** No token, or a token that does not hold (401). */
export class TokenError extends PgmnemoError {}
/** The token, or the role of the database, may not do this (403). */
export class GrantError extends PgmnemoError {}
/** There is no such lesson (404). */
export class MissingError extends PgmnemoError {}
/** An existing lesson is in the way, or others wrote the same rows (409). */
export class ConflictError extends PgmnemoError {}
/** The server, or this token's share of it, is busy; nothing was done (429, 503). */
export class BusyError extends PgmnemoError {}
/** The server or its database cannot answer (408, 5xx). */
export class ServerError extends PgmnemoError {}
/** The connection failed; whether a call without a key was done is not known. */
export class LostError extends PgmnemoError {}

const CLASSES: Record<number, typeof PgmnemoError> = {
  401: TokenError, 403: GrantError, 404: MissingError, 408: ServerError, 409: ConflictError, 429: BusyError,
};

/** Return the error of a response that is not an answer; `help` is added where a token is missing. */
export async function responseError(response: Response, help = ""): Promise<PgmnemoError> {
  const { status, headers } = response;
  const detail = await response.json().then(errorDetail, () => undefined);
  if (detail === undefined) return notMnemo(response, `status ${status}`);
  const busy = status === 503 && detail.kind === "busy";
  const kind = busy ? BusyError : (CLASSES[status] ?? (status < 500 ? UsageError : ServerError));
  const wait = 1_000 * (Number(headers.get("retry-after")) || 0);
  return new kind(`${detail.message}${status === 401 ? help : ""}`, status, detail.kind, { wait });
}

function errorDetail(body: { error?: Partial<ErrorDetail> } | null): ErrorDetail | undefined {
  const { kind, message } = body?.error ?? {};
  return typeof kind === "string" && typeof message === "string" ? { kind, message } : undefined;
}

/** Return the error of an address at which another program than `mnemo serve` answers. */
export function notMnemo({ url, status }: Response, what: string): ServerError {
  const sentence = `${url} answered ${what}, as \`mnemo serve\` never does: check the url, or a proxy there`;
  return new ServerError(sentence, status);
}

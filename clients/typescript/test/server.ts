/** A memory in a folder of its own and `mnemo serve` before it; PYTHON is a Python that has pgmnemo. */

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { Memory, type Scope } from "../src/index.ts";

const PYTHON = process.env["PYTHON"] ?? "python3";

export interface Server {
  url: string;
  /** Return a new token of a tenant. */
  token(tenant: string, project?: string): string;
  revoke(token: string): void;
  /** Return a project of a tenant of its own. */
  scope(): Scope;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const FOLDER = mkdtempSync(join(tmpdir(), "pgmnemo-ts-"));
const MEMORY = join(FOLDER, "memory");
const TOKENS = ["--tokens", join(FOLDER, "tokens.json")];
const STARTED: Server[] = [];
let tenants = 0;

after(async () => {
  await Promise.all(STARTED.map(({ stop }) => stop()));
  rmSync(FOLDER, { recursive: true, force: true });
});

function mnemo(...words: string[]): string {
  return execFileSync(PYTHON, ["-m", "pgmnemo", ...words], { encoding: "utf8", stdio: "pipe" }).trim();
}

function token(tenant: string, project?: string): string {
  return mnemo("token", "make", tenant, ...(project ? ["--project", project] : []), ...TOKENS);
}

/** Return the server of all tests. */
export async function server(): Promise<Server> {
  return STARTED[0] ?? (await serve());
}

/** Start a server over the memory of all tests. */
export async function serve(): Promise<Server> {
  chmodSync(FOLDER, 0o755); // as root the PostgreSQL of a folder runs as another user
  if (!existsSync(MEMORY)) mnemo("init", MEMORY);
  token("first");
  const words = ["-m", "pgmnemo", "serve", MEMORY, ...TOKENS, "--port", "0", "--embedder", "none"];
  const program = spawn(PYTHON, words, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => program.once("exit", () => resolve()));
  const lines = createInterface({ input: program.stderr });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => line.includes('"serving"') && resolve(JSON.parse(line).url));
    ended.then(() => reject(new Error("mnemo serve ended")));
  });
  const started: Server = {
    url, token,
    stop: (signal = "SIGTERM") => (program.kill(signal), ended),
    revoke: (made) => void mnemo("token", "revoke", made.split("_")[1] ?? "", ...TOKENS),
    scope: () => new Memory({ url, token: token(`tenant-${tenants++}`) }).project("kitchen"),
  };
  STARTED.push(started);
  return started;
}

// PostgreSQL 17.5 with pgvector 0.8.0 in this process, with the extension's files from the folder that is named.
// A line of JSON in, {"statement": …, "values": […]}; a line out, {"rows": …, "warnings": …} or {"error": …, "warnings": …}.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite/vector";

const EXTENSIONS = "/tmp/pglite/share/postgresql/extension"; // where this server looks for them
const OURS = /^pgmnemo(--.*\.sql|\.control)$/;

const server = await PGlite.create({ extensions: { vector } });
for (const name of readdirSync(process.argv[2]).filter((one) => OURS.test(one))) {
  server.Module.FS.writeFile(join(EXTENSIONS, name), readFileSync(join(process.argv[2], name)));
}

async function answer({ statement, values }) {
  const warnings = [];
  const told = (notice) => notice.severity === "WARNING" && warnings.push(notice.message);
  const options = { rowMode: "array", onNotice: told };
  try {
    const { rows } = await server.query(statement, values, options);
    return { rows, warnings };
  } catch (error) {
    return { error: error.message, warnings };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}

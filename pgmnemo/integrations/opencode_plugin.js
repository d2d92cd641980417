// Written by `mnemo init opencode`, which replaces this file; `mnemo init opencode --undo` removes it.
import { spawn } from "node:child_process"

const COMMAND = []
const PATIENCE = 10_000 // ms: the command gives up before

const ask = (event) =>
  new Promise((done) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), PATIENCE)
    let text = ""
    child.stdout.on("data", (part) => (text += part))
    child.stdin.on("error", () => {})
    child.on("error", () => done(""))
    child.on("close", () => {
      clearTimeout(timer)
      done(text)
    })
    child.stdin.end(JSON.stringify(event))
  })

export const Pgmnemo = async ({ directory }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const said = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    const text = await ask({ prompt: said.join("\n"), cwd: directory, session_id: sessionID })
    if (text) {
      const id = `prt_pgmnemo${Date.now().toString(36)}`
      parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }
  },
})

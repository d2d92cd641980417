// Written by `mnemo init opencode`, which replaces this file; `mnemo init opencode --undo` removes it.
import { spawn } from "node:child_process"

const RECALL = []
const SAVE = []
const PATIENCE = 10_000 // ms: the command gives up before

const run = (command, event) =>
  new Promise((done) => {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
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

export const Pgmnemo = async ({ directory: cwd }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const said = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    const event = { prompt: said.join("\n"), cwd, session_id: sessionID }
    if (!event.prompt.trim()) return
    const text = await run(RECALL, event)
    if (text) {
      const id = `prt_pgmnemo${Date.now().toString(36)}`
      parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }
    void run(SAVE, event)
  },
  "experimental.text.complete": async ({ sessionID }, { text }) => {
    void run(SAVE, { text, cwd, session_id: sessionID })
  },
})

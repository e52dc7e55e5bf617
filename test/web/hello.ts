import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Stage } from "./stage.ts"

const idIn = (text: string): string => /"id":"([^"]+)"/.exec(text)?.[1] ?? ""

/** Waits until the overview, which callers share for seconds, shows what was just done. */
const shown = async (stage: Stage, what: RegExp): Promise<void> => {
  for (let left = 200; left > 0; left--) {
    if (what.test(await stage.ask("GET", "/api/overview"))) return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  throw new Error(`The overview does not show ${what}`)
}

/** Deploys the sample project `hello`, and then changes two of its files here. Answers the id of the run. */
export const deployHello = async (stage: Stage): Promise<string> => {
  const hello = join(stage.world.projects, "hello")
  await stage.ask("POST", "/api/container/deploy", {
    projectPath: hello,
    serverId: stage.world.serverId,
    remotePath: "~/containers/hello"
  })
  const compose = join(hello, "compose.yml")
  const changed = (await readFile(compose, "utf8"))
    .replace("interval: 1s", "interval: 5s\n      retries: 3")
    .replace("    ports:", "    environment:\n      LOG_LEVEL: info\n    ports:")
  await writeFile(compose, changed)
  await writeFile(join(hello, ".env"), "HOST_PORT=2008\nGREETING=\"Hi\"\nWORKERS=4\n")
  await shown(stage, /"name":"hello","path":"[^"]+","state":"running","stateReason":null,"changes":2,/)
  return idIn(await stage.ask("GET", "/api/runs?limit=1"))
}

/** Creates the application that `hello` declares, and then declares another domain. */
export const upsertHello = async (stage: Stage): Promise<void> => {
  const hello = join(stage.world.projects, "hello")
  await stage.ask("POST", "/api/platform/upsert", { projectPath: hello })
  const file = join(hello, "platform.json")
  const entry = await readFile(file, "utf8")
  await writeFile(file, entry.replace("hello.sandbox.test", "hi.sandbox.test").replace("composestack", "autopack"))
  await shown(stage, /"kind":"application","severity":"warn","name":"hello"/)
}

import { Effect } from "effect"
import { parsePreflight, preflightCommand } from "../../remote/deploy/preflightCommand.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { findComposeFailure } from "../activation/readServerFacts.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"
import { formatWholeMebibytes, leastFree } from "./checkState.ts"

/** Checks Docker and compose on a server, their compatibility and the free disk space. */
export const checkDocker = Effect.fn("health.checkDocker")(function*(access: ServerAccess) {
  const questions = { remotePath: "~/containers", images: [], files: [], layers: false, thorough: true }
  const exit = yield* (yield* Ssh).exec(access, preflightCommand(questions, access.useSudo))
  if (exit.code !== 0) {
    const fix = `Make "docker info" work on the server for ${access.username}`
    return { ok: false, detail: describeDockerRefusal(exit.stderr.trim(), access), fix }
  }
  const facts = parsePreflight(exit.stdout)
  const reason = findComposeFailure(facts, access.name)
  const free = Math.min(facts.freeKiB, facts.dockerFreeKiB) * 1024
  const room = Number.isFinite(free) ? `, ${formatWholeMebibytes(free)} of disk free` : ""
  const detail = `Docker ${facts.engine}, compose ${facts.composeVersion || "none"}${room}`
  const fix = reason ?? (free < leastFree ? "Free disk space on the server: docker image prune -a" : undefined)
  return fix === undefined ? { ok: true, detail } : { ok: false, detail, fix }
})

import { Effect, Option, Struct } from "effect"
import { Berth } from "../../../client/Berth.ts"
import type { ServerCheck, ServerTest } from "../../../schema/servers/ServerTest.ts"
import { showAnswer } from "../../connection/withService.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { findStoredServer } from "../../options/findStoredServer.ts"
import { argument, textOption } from "../../parse/parameters.ts"
import { Failed, Usage } from "../../terminal/commandErrors.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen, type Surface } from "../../terminal/Screen.ts"
import { makeStyler } from "../../terminal/style.ts"
import { wrapText } from "../../terminal/wrapText.ts"
import { access, buildServerInput, buildServerOverrides, passwords } from "./access.ts"
import { askToReplace } from "./hostKeys.ts"

const checkLines = (name: string, { detail, fix, ok }: ServerCheck, surface: Surface) => {
  const style = makeStyler(surface)
  const sign = ok === null ? style("dim", "-") : ok ? style("green", "✓") : style("red", "✗")
  return [
    `${sign} ${name}: ${escapeInline(detail)}`,
    ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${escapeInline(fix)}`])
  ]
}

const standing = { known: "the remembered one", new: "not seen before", changed: "another one is remembered" }

const testLines = ({ docker, hostKey, logIn, sudo }: ServerTest, surface: Surface) => [
  ...(hostKey === null
    ? []
    : checkLines("host key", {
      ok: hostKey.standing === "known" ? true : hostKey.standing === "changed" ? false : null,
      detail: `${hostKey.type} ${hostKey.fingerprint}, ${standing[hostKey.standing]}`
    }, surface)),
  ...checkLines("log-in", logIn, surface),
  ...checkLines("sudo", sudo, surface),
  ...checkLines("docker", docker, surface)
]

export const testServerCommand = defineServiceCommand(
  {
    name: "test",
    summary: "Try whether Berth gets into a server, stored or not, and can deploy there; change nothing there.",
    details:
      "Of a stored server, the options take the place of what is stored; its credentials are used only at its own " +
      "address. A server whose host key is new gets no password or key before --host-key confirms its fingerprint. On a " +
      "terminal, a changed key of a stored server is shown beside the stored one, with the question whether to replace it. " +
      `${passwords} Ends with 1 when something does not work, and with 0 when it has shown the fingerprint of a new server.`,
    examples: ["berth server test main", "berth server test ann@attic.example.com --agent"]
  },
  {
    server: argument("server", "The id or the name of a stored server, or user@host or user@host:port.", "server"),
    hostKey: textOption("host-key", "The fingerprint of its host key, once compared.", { value: "SHA256:…" }),
    ...access
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const inline = Effect.map(
      buildServerInput(input.server, input),
      ({ server }) => ({ name: input.server, ...server })
    )
    const server = input.server.includes("@")
      ? yield* inline
      : yield* findStoredServer(input.server).pipe(
        // Omits the jump hosts: the stored ones apply unless others are given.
        Effect.map(({ server }) => Struct.omit(server, "jump")),
        Effect.catchIf(
          (error) => error instanceof Failed,
          (missing) => Effect.catchIf(inline, (error) => error instanceof Usage, () => Effect.fail(missing))
        )
      )
    const { use } = yield* Berth
    const overrides = "id" in server ? buildServerOverrides(input) : Option.none()
    const tested = { ...server, ...Option.getOrUndefined(overrides) }
    const payload = { ...tested, hostKey: Option.getOrUndefined(input.hostKey) }
    const show = (test: ServerTest) => print(wrapText(testLines(test, out).join("\n"), out))
    const code = yield* showAnswer(input, (api) => api.testServer({ payload }), (first) =>
      Effect.gen(function*() {
        yield* show(first)
        // Host keys are stored with their server: only a stored server without overrides has one to replace.
        const asked = "id" in server && first.hostKey !== null && Option.isNone(overrides)
          ? yield* askToReplace(server.host, first.hostKey)
          : undefined
        if (asked === "refused") return exitCodes.failed
        if (asked !== undefined) {
          yield* use((api) => api.saveServer({ payload: { ...server, ...asked }, urlParams: {} }))
        }
        const test = asked === undefined ? first : yield* use((api) => api.testServer({ payload: server }))
        if (asked !== undefined) yield* show(test)
        const isFirstContact = test.hostKey?.standing === "new" && Option.isNone(input.hostKey)
        if (isFirstContact) {
          yield* say(
            `Compare the fingerprint with what ssh-keygen -lf prints on the server of the key's file in /etc/ssh ` +
              `(ssh_host_*_key.pub), and go on with --host-key ` +
              test.hostKey?.fingerprint
          )
        } else yield* say(test.ready ? "Berth can deploy there." : "Berth cannot deploy there yet.")
        // A first contact is asked for its fingerprint, and has shown it.
        return test.ready || isFirstContact ? exitCodes.done : exitCodes.failed
      }))
    return code
  })
)

import { Effect, Option } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { showAnswer } from "../../connection/withService.ts"
import { serviceCommand } from "../../options/serviceCommand.ts"
import { argument, flag, optionalArgument, text } from "../../parse/parameters.ts"
import { Usage } from "../../terminal/commandErrors.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { safeText } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { shellWord } from "../../terminal/shellWord.ts"
import { access, passwords, serverAt } from "./access.ts"
import { hostKeyFor } from "./hostKeys.ts"

export const addServerCommand = serviceCommand(
  {
    name: "add",
    summary: "Store a server to deploy to.",
    details:
      `${passwords} berth server test tries first whether it works, and shows the fingerprint of the host key. What ` +
      "~/.ssh/config says of the host is taken over, and a host key in known_hosts counts as compared.",
    examples: [
      "berth server add Main deployer@main.example.com --key ~/.ssh/id_ed25519",
      "berth server add Attic ann@attic.example.com --agent --sudo",
      "berth server add attic"
    ]
  },
  {
    name: argument("name", "Display name."),
    address: optionalArgument(
      "address",
      "User and host to log in to: user@host, user@host:port, or a Host of ~/.ssh/config; the name unless given."
    ),
    hostKey: text("host-key", "The fingerprint of its host key, once compared: Berth insists on it.", {
      value: "SHA256:…"
    }),
    replacesHostKey: text("replaces-host-key", "The remembered fingerprint that --host-key takes the place of.", {
      value: "SHA256:…"
    }),
    id: text("id", "The id to store it under; a stored server with this id is replaced.", {
      value: "id",
      names: "server"
    }),
    dryRun: flag("dry-run", "Only show how the settings file would change."),
    ...access
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { isKnown, server } = yield* serverAt(Option.getOrElse(input.address, () => input.name), input)
    const { use } = yield* Berth
    const id = Option.getOrUndefined(input.id)
    if (Option.isSome(input.replacesHostKey) && Option.isNone(input.hostKey)) {
      return yield* new Usage({
        message: "--replaces-host-key needs --host-key with the fingerprint of the new key"
      })
    }
    const stored = id === undefined
      ? undefined
      : (yield* use((api) => api.listServers({}))).find((each) => each.id === id)
    const [given, replaced] = [Option.getOrUndefined(input.hostKey), Option.getOrUndefined(input.replacesHostKey)]
    const fields = {
      ...server,
      name: input.name,
      ...(stored === undefined ? { newId: id } : { id }),
      uniqueName: true
    }
    if (input.dryRun) {
      return yield* showAnswer(
        input,
        (api) => api.saveServer({ payload: fields, urlParams: { plan: "true" } }),
        ({ change }) => {
          const diff = change?.diff.trimEnd() ?? ""
          return diff === "" ? say("Nothing would change.") : print(safeText(diff))
        }
      )
    }
    const key = replaced === undefined
      // A replaced server keeps its jump hosts unless others are given.
      ? yield* hostKeyFor({
        ...server,
        name: input.name,
        jump: server.jump === undefined ? stored?.jump : server.jump
      }, {
        given,
        isKnown
      })
      : { hostKey: given, replacesHostKey: replaced }
    if (key === "refused") return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.saveServer({ payload: { ...fields, ...key }, urlParams: {} }),
      ({ server }) =>
        say(
          `${stored === undefined ? "Stored" : "Replaced"} ${safeText(server.name)} with the id ${
            safeText(server.id)
          }. ` +
            `Next: berth server test ${shellWord(server.name)}`
        )
    )
  })
)

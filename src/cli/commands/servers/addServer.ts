import { Effect, Option } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { showAnswer } from "../../connection/withService.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { argument, flagOption, optionalArgument, textOption } from "../../parse/parameters.ts"
import { Usage } from "../../terminal/commandErrors.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { quoteShellWord } from "../../terminal/quoteShellWord.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { access, buildServerInput, passwords } from "./access.ts"
import { resolveHostKey } from "./hostKeys.ts"

export const addServerCommand = defineServiceCommand(
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
    hostKey: textOption("host-key", "The fingerprint of its host key, once compared: Berth insists on it.", {
      value: "SHA256:…"
    }),
    replacesHostKey: textOption("replaces-host-key", "The remembered fingerprint that --host-key takes the place of.", {
      value: "SHA256:…"
    }),
    id: textOption("id", "The id to store it under; a stored server with this id is replaced.", {
      value: "id",
      names: "server"
    }),
    dryRun: flagOption("dry-run", "Only show how the settings file would change."),
    ...access
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { isKnown, server } = yield* buildServerInput(Option.getOrElse(input.address, () => input.name), input)
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
          return diff === "" ? say("Nothing would change.") : print(escapeInline(diff))
        }
      )
    }
    const key = replaced === undefined
      // Keeps the jump hosts of a replaced server unless others are given.
      ? yield* resolveHostKey({
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
          `${stored === undefined ? "Stored" : "Replaced"} ${escapeInline(server.name)} with the id ${
            escapeInline(server.id)
          }. ` +
            `Next: berth server test ${quoteShellWord(server.name)}`
        )
    )
  })
)

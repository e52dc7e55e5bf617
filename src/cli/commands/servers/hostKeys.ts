import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import type { ShownHostKey } from "../../../schema/servers/ServerTest.ts"
import { Failed } from "../../terminal/commandErrors.ts"
import { confirm } from "../../terminal/confirm.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"

/** Confirmed fingerprint of a host key, and the stored one that it replaces. */
export interface ConfirmedKey {
  readonly hostKey?: string | undefined
  readonly replacesHostKey?: string | undefined
}

/** Server whose host key is fetched. */
interface Asked {
  readonly name: string
  readonly host: string
  readonly port?: number | undefined
  readonly username: string
  readonly jump?: string | null | undefined
}

/**
 * Shows a changed host key beside the one that Berth stores and asks whether to replace it; "no" yields `refused`. Yields
 * nothing if the key is unchanged, the other one is in known_hosts, or there is no terminal.
 */
export const askToReplace = (host: string, shown: typeof ShownHostKey.Type) =>
  Effect.gen(function*() {
    const { canAsk, say } = yield* Screen
    const stored = /SHA256:[A-Za-z0-9+/]{43}/.exec(shown.remembered ?? "")?.[0]
    if (!canAsk || shown.rememberedIn !== "berth" || stored === undefined) return undefined
    yield* say([
      `The host key of ${escapeInline(host)} has changed:`,
      `  stored: ${escapeInline(shown.remembered ?? "")}`,
      `  new:    ${escapeInline(shown.fingerprint)} (${escapeInline(shown.type)})`,
      "Another machine may answer in its place: compare the new one with what ssh-keygen -lf prints on the server of the " +
      "key's file in /etc/ssh."
    ].join("\n"))
    if (!(yield* confirm("Replace the stored host key?", false))) return "refused" as const
    const replaced: ConfirmedKey = { hostKey: shown.fingerprint, replacesHostKey: stored }
    return replaced
  })

/**
 * Host key to store with a server: the given one, else the one that known_hosts confirms. Asks on a terminal before it
 * replaces a stored one. The server shows its key without receiving credentials.
 */
export const resolveHostKey = (
  { host, jump, name, port, username }: Asked,
  { given, isKnown }: { readonly given: string | undefined; readonly isKnown: boolean }
) =>
  Effect.gen(function*() {
    const { canAsk, say } = yield* Screen
    const asIs: ConfirmedKey = { hostKey: given }
    if (given === undefined ? !isKnown : !canAsk) return asIs
    const payload = { name, host, port, username, jump, useSudo: false }
    const { hostKey: shown, logIn } = yield* (yield* Berth).use((api) => api.testServer({ payload }))
    if (shown === null) {
      if (given === undefined) {
        yield* say(`Its host key was not compared with known_hosts. ${escapeInline(logIn.detail)}`)
      }
      return asIs
    }
    const replaced = given === undefined || given === shown.fingerprint ? yield* askToReplace(host, shown) : undefined
    if (replaced !== undefined) return replaced
    if (given !== undefined || shown.standing === "new") return asIs
    if (shown.standing === "changed") {
      return yield* new Failed({
        message:
          `${host} shows the host key ${shown.fingerprint}, and known is ${shown.remembered ?? "another one"}: ` +
          "nothing was stored. Compare both with what the server says; if it was reinstalled, remove the old key with " +
          "ssh-keygen -R, or confirm the new one with --host-key"
      })
    }
    yield* say(`Its host key ${shown.fingerprint} is the one that is known.`)
    return { hostKey: shown.fingerprint } satisfies ConfirmedKey
  })

import { useMutation } from "@tanstack/react-query"
import { type RefObject, useRef } from "react"
import type { SshDefaults } from "../../../schema/servers/SshDefaults.ts"
import { call } from "../../service/berth.ts"

const isAlias = (text: string) => /^[A-Za-z0-9_.:%[\]-]{1,253}$/.test(text)

/** A typed host, and its settings in `~/.ssh/config` of the service's user. */
export interface FoundSshDefaults {
  readonly alias: string
  readonly defaults: SshDefaults
}

const lookUp = async (alias: string): Promise<FoundSshDefaults> => ({
  alias,
  defaults: await call((berth) => berth.sshDefaults({ urlParams: { host: alias } }))
})

/**
 * Looks up a typed host in `~/.ssh/config` of the service's user, and fills the fields that the user has not typed in.
 * They are reset for the next host.
 * @param onKey receives the key file of the host unless a log-in method is already chosen, and null when another host
 * is typed
 */
export const useSshDefaults = (form: RefObject<HTMLFormElement | null>, onKey: (file: string | null) => void) => {
  const typed = useRef(new Set<string>())
  const filled = useRef(new Set<string>())
  const pending = useRef<Promise<unknown>>(Promise.resolve())
  const { data, mutateAsync, reset } = useMutation({ mutationFn: lookUp })
  const input = (name: string) => {
    const element = form.current?.elements.namedItem(name)
    return element instanceof HTMLInputElement ? element : undefined
  }
  const fill = (name: string, value: string | null) => {
    const field = input(name)
    if (field === undefined || value === null || typed.current.has(name)) return
    field.value = value
    filled.current.add(name)
  }
  const fillFrom = ({ alias, defaults }: FoundSshDefaults) => {
    const host = input("host")
    // Another host may have been typed meanwhile.
    if (!defaults.isNamed || host?.value.trim() !== alias) return
    host.value = defaults.host
    fill("name", alias)
    fill("port", defaults.port === null ? null : String(defaults.port))
    fill("username", defaults.username)
    fill("jump", defaults.jump)
    if (defaults.privateKey === null || typed.current.has("privateKey") || typed.current.has("way")) return
    filled.current.add("privateKey")
    onKey(defaults.privateKey)
  }
  const forget = () => {
    for (const name of filled.current) {
      const field = input(name)
      if (field !== undefined) field.value = field.defaultValue
    }
    if (filled.current.has("privateKey")) onKey(null)
    filled.current.clear()
    reset()
  }
  const look = (host: string): void => {
    const alias = host.trim()
    if (!isAlias(alias) || !typed.current.has("host") || data?.alias === alias || data?.defaults.host === alias) return
    // A failed lookup leaves the host as it is typed.
    pending.current = mutateAsync(alias).then(fillFrom, () => undefined)
  }
  return {
    /** Last looked-up host, if a Host section names it. */
    found: data?.defaults.isNamed === true ? data : undefined,
    note: (name: string) => {
      if (name === "host") forget()
      typed.current.add(name)
      filled.current.delete(name)
    },
    look,
    /** Looks up the typed host, and waits for its fields. */
    settle: async () => {
      look(input("host")?.value ?? "")
      await pending.current
    }
  }
}

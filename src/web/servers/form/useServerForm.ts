import { useMutation } from "@tanstack/react-query"
import { Redacted } from "effect"
import { type RefObject, useRef, useState } from "react"
import { flushSync } from "react-dom"
import type { Server, ServerInput, ServerToStore } from "../../../schema/servers.ts"
import type { SettingsChangeQuery } from "../../../schema/settingsList.ts"
import type { SshDefaults } from "../../../schema/ssh.ts"
import { call } from "../../service.ts"

/** SSH authentication method; `stored` keeps the credentials of a stored server. */
type AuthMethod = "stored" | "agent" | "key" | "password"

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value.trim() : ""
}

/** Reads an authentication method; the agent by default. */
export const parseAuthMethod = (text: string): AuthMethod =>
  text === "key" || text === "password" || text === "stored" ? text : "agent"

const wayIn = (form: FormData) => parseAuthMethod(textIn(form, "way"))

const credentials = (form: FormData, way: Exclude<AuthMethod, "stored">) => {
  const secret = (name: string) => Redacted.make(textIn(form, name))
  const passphrase = textIn(form, "passphrase") === "" ? {} : { passphrase: secret("passphrase") }
  switch (way) {
    case "agent":
      return { agent: true }
    case "key":
      return { privateKey: textIn(form, "privateKey"), ...passphrase }
    case "password":
      return { password: secret("password") }
  }
}

/** Clears the stored credentials that the new log-in method does not use. */
const cleared = { agent: null, privateKey: null, passphrase: null, password: null } as const

/**
 * Builds a request from the form.
 * @param stored edited server; credentials of other log-in methods are cleared, and so are omitted jump hosts
 */
const readServerInput = (form: FormData, stored: Server | undefined): ServerInput => {
  const way = wayIn(form)
  const jump = textIn(form, "jump")
  return {
    name: textIn(form, "name"),
    host: textIn(form, "host"),
    port: Number(textIn(form, "port")),
    username: textIn(form, "username"),
    ...(jump !== "" ? { jump } : stored === undefined ? {} : { jump: null }),
    useSudo: form.get("useSudo") !== null,
    ...(way === "stored" ? {} : { ...(stored === undefined ? {} : cleared), ...credentials(form, way) })
  }
}

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
const useSshDefaults = (form: RefObject<HTMLFormElement | null>, onKey: (file: string | null) => void) => {
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

type Fields = Omit<ServerToStore, "id">

/** Stores or replaces a server. With `plan`, returns the change of the settings file and writes nothing. */
const send = ({ newId, ...fields }: Fields, stored: Server | undefined, urlParams: SettingsChangeQuery) =>
  call((berth) =>
    stored === undefined
      ? berth.saveServer({ payload: { ...fields, newId, uniqueName: true }, urlParams })
      : berth.replaceServer({
        path: { id: stored.id },
        payload: { ...fields, uniqueName: true },
        urlParams
      })
  )

/** Calls of the form: a connection test, a plan of the settings file, and the change itself. */
const useServerCalls = (stored: Server | undefined, onStored: (server: Server) => unknown) => ({
  trial: useMutation({
    mutationFn: ({ hostKey, ...fields }: Fields) =>
      call((berth) =>
        berth.testServer({
          payload: {
            ...(stored === undefined ? {} : { id: stored.id }),
            ...fields,
            ...(hostKey === undefined ? {} : { hostKey })
          }
        })
      )
  }),
  plan: useMutation({
    mutationFn: async (fields: Fields) => {
      const { change, server } = await send(fields, stored, { plan: "true" })
      // Stores the server under the id that the diff shows.
      return { change, fields: stored === undefined ? { ...fields, newId: server.id } : fields }
    }
  }),
  storing: useMutation({
    mutationFn: (fields: Fields) => send(fields, stored, {}),
    onSuccess: ({ server }) => onStored(server)
  })
})

/** Reads the form after the lookup of its host has ended. */
const useReader =
  (form: RefObject<HTMLFormElement | null>, settle: () => Promise<void>, stored: Server | undefined) => async () => {
    await settle()
    return form.current?.reportValidity() === true ? readServerInput(new FormData(form.current), stored) : undefined
  }

/**
 * State of the form of a new or stored server: connection test, change of the settings file, then storing. An
 * unreachable server can be stored too; its screen shows the problem.
 */
export const useServerForm = (
  { onStored, stored }: { readonly stored?: Server | undefined; readonly onStored: (server: Server) => unknown }
) => {
  const form = useRef<HTMLFormElement>(null)
  const [way, setWay] = useState<AuthMethod>(stored === undefined ? "agent" : "stored")
  const [keyFile, setKeyFile] = useState("")
  const [confirmed, setConfirmed] = useState<string>()
  const { plan, storing, trial } = useServerCalls(stored, onStored)
  // Results for another address or credential are discarded.
  const discard = () => {
    for (const result of [trial, plan, storing]) if (!result.isIdle) result.reset()
  }
  const { found, look, note, settle } = useSshDefaults(form, (file) => {
    // Rendered synchronously: a test that waited for the lookup reads the form right after it.
    flushSync(() => {
      discard()
      setKeyFile(file ?? "")
      setWay(file === null ? "agent" : "key")
    })
  })
  const read = useReader(form, settle, stored)
  return {
    form,
    stored,
    way,
    setWay,
    keyFile,
    found,
    look,
    trial,
    plan,
    storing,
    confirmed,
    change: (field: string) => {
      note(field)
      discard()
    },
    test: async (hostKey: string | undefined) => {
      const fields = await read()
      if (fields === undefined) return
      setConfirmed(hostKey)
      trial.mutate({ ...fields, hostKey })
    },
    /** Shows the change of the settings file; stores it if it is already shown. */
    advance: async () => {
      if (plan.data !== undefined) return storing.mutate(plan.data.fields)
      const fields = await read()
      // Pins the host key that was confirmed for exactly these fields.
      const shown = trial.data?.hostKey?.fingerprint
      const hostKey = shown !== undefined && shown === confirmed ? { hostKey: shown } : {}
      if (fields !== undefined) plan.mutate({ ...fields, ...hostKey })
    }
  }
}

export type ServerFormState = ReturnType<typeof useServerForm>

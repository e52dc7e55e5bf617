import { useMutation } from "@tanstack/react-query"
import { type RefObject, useRef, useState } from "react"
import { flushSync } from "react-dom"
import type { Server } from "../../../schema/servers/Server.ts"
import type { ServerToStore } from "../../../schema/servers/ServerToStore.ts"
import type { SettingsChangeQuery } from "../../../schema/settings/SettingsList.ts"
import { call } from "../../service/berth.ts"
import { type AuthMethod, readServerInput } from "./readServerForm.ts"
import { useSshDefaults } from "./useSshDefaults.ts"

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

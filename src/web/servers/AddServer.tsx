import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useRef, useState } from "react"
import { useLocation } from "wouter"
import type { ServerInput } from "../../schema/Server.ts"
import type { ServerToStore } from "../../schema/ServerToStore.ts"
import { call } from "../service/berth.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure } from "../ui/Notes.tsx"
import { ConnectionTest } from "./ConnectionTest.tsx"
import { serverIn, type Way } from "./serverForm.ts"

const save = (server: ServerToStore) => call((berth) => berth.saveServer({ payload: { ...server, uniqueName: true } }))
const tested = ({ hostKey, server }: { readonly server: ServerInput; readonly hostKey: string | undefined }) =>
  call((berth) => berth.testServer({ payload: { ...server, ...hostKey === undefined ? {} : { hostKey } } }))

/**
 * Stores a server, and tests the connection before where that is wanted. One that does not answer can be stored all the
 * same, and its screen says what is wrong.
 */
export const AddServer = ({ onClose }: { readonly onClose: () => void }) => {
  const [way, setWay] = useState<Way>("agent")
  const [, go] = useLocation()
  const queries = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: save,
    onSuccess: async ({ server }) => {
      onClose()
      go(`/servers/${encodeURIComponent(server.id)}`)
      await queries.invalidateQueries()
    }
  })
  const [confirmed, setConfirmed] = useState<string>()
  const trial = useMutation({ mutationFn: tested })
  const form = useRef<HTMLFormElement>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    // A key that was confirmed for this server, as it is filled in now, is the one that Berth insists on.
    const shown = trial.data?.hostKey?.fingerprint
    const hostKey = shown !== undefined && shown === confirmed ? { hostKey: shown } : {}
    mutate({ ...serverIn(new FormData(event.currentTarget), way), ...hostKey })
  }
  const test = (hostKey: string | undefined) => {
    const filled = form.current
    if (filled === null || !filled.reportValidity()) return
    setConfirmed(hostKey)
    trial.mutate({ server: serverIn(new FormData(filled), way), hostKey })
  }
  // What was found of another server, or with another credential, says nothing about this one.
  const changed = () => {
    if (trial.data !== undefined || trial.error !== null) trial.reset()
  }
  return (
    <Dialog label="Add a server" onClose={onClose}>
      <form ref={form} onSubmit={submit} onChange={changed}>
        <div className="dialog-body">
          <h2>Add a server</h2>
          <div className="fields">
            <Field label="Name" wide>
              <input name="name" required placeholder="Main" />
            </Field>
            <Field label="Host">
              <input name="host" required placeholder="main.example.com" />
            </Field>
            <Field label="SSH port">
              <input name="port" type="number" min={1} max={65535} required defaultValue={22} />
            </Field>
            <Field label="User">
              <input name="username" required placeholder="deployer" autoComplete="off" />
            </Field>
            <Field label="Log in with">
              <select
                value={way}
                onChange={({ target: { value } }) => setWay(value === "key" || value === "password" ? value : "agent")}
              >
                <option value="agent">the SSH agent of this machine</option>
                <option value="key">a private key file</option>
                <option value="password">a password</option>
              </select>
            </Field>
            {way === "key"
              ? (
                <>
                  <Field label="Key file" help="An absolute path on the machine that Berth runs on">
                    <input name="privateKey" required placeholder="/home/ann/.ssh/id_ed25519" />
                  </Field>
                  <Field label="Its passphrase" help="If it has one">
                    <input name="passphrase" type="password" autoComplete="off" />
                  </Field>
                </>
              )
              : null}
            {way === "password"
              ? (
                <Field label="Password" wide>
                  <input name="password" type="password" required autoComplete="off" />
                </Field>
              )
              : null}
            <label className="check wide">
              <input type="checkbox" name="useSudo" /> Docker and files need sudo there
            </label>
          </div>
          {trial.data === undefined
            ? (
              <p className="quiet">
                A test shows the fingerprint of its host key before anything is sent. Once it is stored, Berth connects
                and remembers the key, which has to be the one that you confirmed: should the server ever show another
                one, nothing is sent to it.
              </p>
            )
            : (
              <ConnectionTest
                test={trial.data}
                confirmed={confirmed}
                isTesting={trial.isPending}
                onConfirm={test}
              />
            )}
          {trial.error === null ? null : <Failure error={trial.error} />}
          {error === null ? null : <Failure error={error} />}
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>Leave it</Button>
          <Button icon="again" disabled={trial.isPending || isPending} onClick={() => test(confirmed)}>
            {trial.isPending ? "Testing …" : "Test the connection"}
          </Button>
          <Button type="submit" look="main-action" disabled={isPending}>
            {isPending ? "Connecting …" : "Store it and connect"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

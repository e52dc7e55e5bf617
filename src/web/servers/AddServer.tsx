import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Redacted } from "effect"
import { type FormEvent, useState } from "react"
import { useLocation } from "wouter"
import { call } from "../service/berth.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure } from "../ui/Notes.tsx"

type Way = "agent" | "key" | "password"

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value.trim() : ""
}

const credentials = (form: FormData, way: Way) => {
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

const save = (form: FormData, way: Way) =>
  call((berth) =>
    berth.saveServer({
      payload: {
        name: textIn(form, "name"),
        host: textIn(form, "host"),
        port: Number(textIn(form, "port")),
        username: textIn(form, "username"),
        useSudo: form.get("useSudo") !== null,
        ...credentials(form, way)
      }
    })
  )

/** Stores a server, and then connects to it. One that does not answer stays stored, and its screen says what is wrong. */
export const AddServer = ({ onClose }: { readonly onClose: () => void }) => {
  const [way, setWay] = useState<Way>("agent")
  const [, go] = useLocation()
  const queries = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: (form: FormData) => save(form, way),
    onSuccess: async ({ server }) => {
      onClose()
      go(`/servers/${encodeURIComponent(server.id)}`)
      await queries.invalidateQueries()
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog label="Add a server" onClose={onClose}>
      <form onSubmit={submit}>
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
          <p className="quiet">
            Berth connects once it is stored, and remembers its host key: should the server ever show another one,
            nothing is sent to it.
          </p>
          {error === null ? null : <Failure error={error} />}
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" look="main-action" disabled={isPending}>
            {isPending ? "Connecting …" : "Store it and connect"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

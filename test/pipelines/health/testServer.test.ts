import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Either, Layer, Option, Redacted, Ref } from "effect"
import { testServer } from "../../../src/pipelines/health/testServer.ts"
import { AuthenticationFailed, type ServerAccess, ServerUnreachable, SudoRefused } from "../../../src/schema/ssh.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { type Contact, FirstContact, type PresentedKey } from "../../../src/services/ssh/FirstContact.ts"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { sftpTest, type SshReply, sshTest } from "../../../src/testing/SshTest.ts"

const key: PresentedKey = {
  type: "ssh-ed25519",
  fingerprint: `SHA256:${"a".repeat(43)}`,
  standing: "known",
  remembered: Option.none(),
  route: Option.none(),
  rememberedIn: Option.none()
}
const input = { name: "Attic", host: "attic.test", username: "deployer" }
const where = { server: "Attic", host: "attic.test", port: 22 }
const stored: ServerAccess = {
  id: "1",
  ...input,
  port: 22,
  useSudo: false,
  credentials: { password: Redacted.make("stored-password"), privateKey: "/keys/id" }
}
const fingerprint = `SHA256:${"b".repeat(43)}`
const behind: ServerAccess = {
  ...stored,
  id: "behind",
  jump: "deb@gate.test",
  hostKey: fingerprint,
  credentials: { password: Redacted.make("of-behind") }
}
const preflight =
  "compose\tv2\t2.20.0\ndocker\t24.0.7|overlay2|[]|/var/lib/docker\nfree\t9000000\ndockerfree\t9000000\n"

class Met extends Context.Tag("berth/test/Met")<Met, Ref.Ref<ReadonlyArray<ServerAccess>>>() {}

/** A first contact that ends like this, and the servers that were met. */
const meeting = (
  session: Contact["session"] | SshReply,
  shown = key,
  files: SshReply = { stdout: "end\n" },
  transfer: Layer.Layer<Sftp> = sftpTest()
) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const met = yield* Ref.make<ReadonlyArray<ServerAccess>>([])
    const answer = Either.isEither(session)
      ? session
      : Either.right(
        yield* Effect.provide(
          Effect.context<Sftp | Ssh>(),
          Layer.merge(
            sshTest({ "looking at the server before the deploy": session, "trying what a deploy needs": files }),
            transfer
          )
        )
      )
    return Layer.mergeAll(
      settingsTest({}, [stored, behind]),
      Layer.succeed(Met, met),
      Layer.succeed(FirstContact, {
        confirm: () => Effect.succeed("confirmed" as const),
        meet: (server) =>
          Effect.as(Ref.update(met, (all) => [...all, server]), { key: Option.some(shown), session: answer })
      })
    )
  }))

const credentialsShown = Effect.map(Effect.flatMap(Met, Ref.get), (all) =>
  all.map(({ credentials }) => ({
    ...credentials,
    ...credentials.password === undefined ? {} : { password: Redacted.value(credentials.password) }
  })))

describe("the connection test", () => {
  it.effect("finds a server ready where everything works", () =>
    Effect.gen(function*() {
      expect(yield* testServer({ ...input, useSudo: true })).toEqual({
        ready: true,
        hostKey: {
          type: key.type,
          fingerprint: key.fingerprint,
          standing: "known",
          remembered: null,
          rememberedIn: null
        },
        logIn: { ok: true, detail: "deployer is logged in" },
        sudo: { ok: true, detail: "sudo runs Docker" },
        docker: { ok: true, detail: "Docker 24.0.7, compose 2.20.0, 8,789 MiB of disk free" },
        files: { ok: true, detail: "Files can be written, locked and transferred" },
        observedAt: "1970-01-01T00:00:00.000Z"
      })
    }).pipe(Effect.provide(meeting({ stdout: preflight }))))

  it.effect.each([
    { agent: true },
    { privateKey: "/keys/another" },
    { password: Redacted.make("mine"), jump: "x@unstored.test" }
  ])("meets no server for a token with credentials of the service's user: %j", (more) =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(
        Effect.provideService(testServer({ ...input, ...more }), CurrentCaller, { name: "ann", role: "operator" })
      )
      expect(refused).toMatchObject({ _tag: "ServerForbidden", status: 403 })
      expect(yield* credentialsShown).toEqual([])
      expect(yield* testServer({ ...input, ...more })).toMatchObject({ ready: true })
    }).pipe(Effect.provide(meeting({ stdout: preflight }))))

  it.effect("tells a Docker that cannot be used from a sudo that refuses", () =>
    Effect.gen(function*() {
      const denied = { code: 3, stderr: "permission denied while trying to connect to the Docker daemon socket" }
      const docker = yield* Effect.provide(testServer(input), meeting(denied))
      expect(docker).toMatchObject({
        ready: false,
        logIn: { ok: true },
        sudo: { ok: null },
        docker: {
          ok: false,
          detail: expect.stringContaining("Add deployer to the group docker"),
          fix: expect.any(String)
        }
      })
      const refusing = Ssh.of({
        exec: () =>
          new SudoRefused({ ...where, words: "a password is required: hidden-one", help: "Store a sudoPassword" }),
        spawn: () => Effect.die("not asked for")
      })
      const sudo = yield* testServer({ ...input, useSudo: true, sudoPassword: Redacted.make("hidden-one") }).pipe(
        Effect.provide(
          meeting(Either.right(Context.add(yield* Effect.provide(Effect.context<Sftp>(), sftpTest()), Ssh, refusing)))
        )
      )
      expect(sudo).toMatchObject({
        ready: false,
        sudo: { ok: false, detail: expect.stringContaining("a password is required"), fix: "Store a sudoPassword" },
        docker: { ok: null }
      })
      expect(JSON.stringify(sudo)).not.toContain("hidden-one")
    }))

  it.effect.each<readonly [reply: SshReply, detail: string, fix: string]>([
    [
      { stdout: "missing\tflock\nmissing\ttar\nend\n" },
      "Not there, or not on the PATH of commands: flock, tar",
      "Install util-linux and tar"
    ],
    [
      { stdout: "unwritable\t/home/deployer\tmktemp: failed: Read-only file system\nend\n" },
      "deployer cannot write a file in /home/deployer: mktemp: failed: Read-only file system",
      "Let deployer write there"
    ],
    [{ stdout: "unlocked\t/srv\nend\n" }, "A file in /srv cannot be locked (flock)", "a file system with locks"]
  ])("is not ready for a deploy that cannot write, lock or run: %j", ([reply, detail, fix]) =>
    Effect.gen(function*() {
      expect(yield* testServer(input)).toMatchObject({
        ready: false,
        docker: { ok: true },
        files: { ok: false, detail, fix: expect.stringContaining(fix) }
      })
    }).pipe(Effect.provide(meeting({ stdout: preflight }, key, reply))))

  it.effect.each<SshReply>([{}, { stdout: "missing\tflock\n" }, { code: 127, stderr: "awk is not installed" }, {
    code: null
  }])(
    "believes no answer that has no end: %j",
    (reply) =>
      Effect.gen(function*() {
        expect(yield* testServer(input)).toMatchObject({ ready: false, files: { ok: false } })
      }).pipe(Effect.provide(meeting({ stdout: preflight }, key, reply)))
  )

  it.effect("tells what a login shell prints, and whether file transfer gets past it", () =>
    Effect.gen(function*() {
      const greeting = "Welcome to attic"
      const withGreeting = { stdout: "end\n", greeting }
      expect(yield* Effect.provide(testServer(input), meeting({ stdout: preflight }, key, withGreeting))).toMatchObject(
        {
          ready: true,
          files: { ok: true, detail: expect.stringContaining("is left out: \"Welcome to attic\"") }
        }
      )
      const broken = Layer.succeed(
        Sftp,
        Sftp.of({ session: () => new ServerUnreachable({ ...where, reason: "the packet is too long" }) })
      )
      const refused = meeting({ stdout: preflight }, key, withGreeting, broken)
      expect(yield* Effect.provide(testServer(input), refused)).toMatchObject({
        ready: false,
        files: {
          ok: false,
          detail: expect.stringContaining("print \"Welcome to attic\" before every answer"),
          fix: expect.stringMatching(/case \$- in .*~\/\.bashrc.*Subsystem sftp internal-sftp/)
        }
      })
    }))

  it.effect("says why no log-in was tried, or why it was refused", () =>
    Effect.gen(function*() {
      const fresh = yield* testServer(input).pipe(
        Effect.provide(meeting(Either.left({ _tag: "Unconfirmed" }), { ...key, standing: "new" }))
      )
      expect(fresh).toMatchObject({
        ready: false,
        hostKey: { standing: "new" },
        logIn: { ok: null, detail: expect.stringContaining("no credential was sent") },
        docker: { ok: null }
      })
      const failure = new AuthenticationFailed({ ...where, username: "deployer", tried: ["password"] })
      const refused = yield* Effect.provide(testServer(input), meeting(Either.left(failure)))
      expect(refused).toMatchObject({ logIn: { ok: false, detail: expect.stringContaining("refused password") } })
    }))

  it.effect("uses what is stored only for the same host, port and user", () =>
    Effect.gen(function*() {
      yield* testServer({ ...input, id: "1" })
      yield* testServer({ ...input, id: "1", host: "elsewhere.test" })
      yield* testServer({ ...input, id: "1", password: null })
      yield* testServer({ ...input, password: Redacted.make("given") })
      expect(yield* credentialsShown).toEqual([
        { password: "stored-password", privateKey: "/keys/id" },
        {},
        { privateKey: "/keys/id" },
        { password: "given" }
      ])
      expect(yield* Effect.flip(testServer({ ...input, id: "none" }))).toMatchObject({ status: 404 })
    }).pipe(Effect.provide(meeting({ stdout: preflight }))))

  it.effect.each<readonly [what: string, jump: string | null | undefined, isSent: boolean]>([
    ["as it is stored", undefined, true],
    ["with the same jump hosts", "deb@gate.test", true],
    ["without jump hosts", null, false],
    ["through another host", "eve@evil.test:2022", false],
    ["through one more", "deb@gate.test,eve@evil.test:2022", false],
    ["through one before", "eve@evil.test:2022,deb@gate.test", false],
    ["as another user of the jump host", "eve@gate.test", false],
    ["through another port of the jump host", "deb@gate.test:2022", false]
  ])("sends stored credentials on no other route: %s", ([, jump, isSent]) =>
    Effect.gen(function*() {
      yield* testServer({ ...input, id: "behind", ...(jump === undefined ? {} : { jump }) })
      const [met] = yield* Effect.flatMap(Met, Ref.get)
      expect((yield* credentialsShown)[0]).toEqual(isSent ? { password: "of-behind" } : {})
      expect(met?.hostKey).toBe(isSent ? fingerprint : undefined)
      const hops = (via: ServerAccess | undefined): ReadonlyArray<string> =>
        via === undefined ? [] : [...hops(via.via), `${via.username}@${via.host}:${via.port}`]
      const wanted = jump === undefined ? "deb@gate.test" : jump ?? ""
      expect(hops(met?.via)).toEqual(
        wanted.split(",").filter((hop) => hop !== "").map((hop) => hop.includes(":") ? hop : `${hop}:22`)
      )
    }).pipe(Effect.provide(meeting({ stdout: preflight }))))

  it.effect("shows a server nothing in place of what a reference will lead to", () =>
    Effect.gen(function*() {
      const test = yield* testServer({ ...input, password: Redacted.make("${env:PASSWORD}") })
      expect(test.logIn).toEqual({
        ok: null,
        detail: "Not tried: password refers to something that is only read once the server is stored"
      })
      expect(yield* credentialsShown).toEqual([{}])
    }).pipe(
      Effect.provide(meeting(Either.left(new AuthenticationFailed({ ...where, username: "deployer", tried: [] }))))
    ))
})

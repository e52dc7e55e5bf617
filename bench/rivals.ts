import { shell } from "./shell.ts"
import { compose, places, type Stage } from "./stage.ts"

/** Manual equivalent of a deploy, as a line of shell. */
export interface Rival {
  readonly name: string
  readonly needs: string
  readonly line: string
}

// $1 the port, $2 the key, $3 the user, $4 the archive, $5 the image, $6 the compose file. The server says when the
// image is loaded, so that the start of the stack, which is the same work for all, can be told apart.
const start = `date +%s%3N; cd ${places.rival}; compose() { ${compose}; }; compose up -d >/dev/null 2>&1`
const prologue = `
options="-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes -i $2"
on_server() { ssh $options -p "$1" "$user@127.0.0.1" "$2"; }
port=$1
user=$3
`

export const rivals: ReadonlyArray<Rival> = [
  {
    name: "scp + docker load + compose up",
    needs: "scp",
    line: `${prologue}
scp -q $options -P "$port" "$4" "$6" "$user@127.0.0.1:${places.rival}/"
on_server "$port" 'docker load -q -i ${places.rival}/'"$(basename "$4")"' >/dev/null; ${start}'`
  },
  {
    name: "docker save \\| ssh docker load + compose up",
    needs: "ssh",
    line: `${prologue}
docker save "$5" | on_server "$port" 'docker load -q >/dev/null; ${start}'`
  },
  {
    name: "rsync --inplace + docker load + compose up",
    needs: "rsync",
    line: `${prologue}
rsync --inplace --no-whole-file -e "ssh $options -p $port" "$4" "$user@127.0.0.1:${places.rival}/$5.tar"
on_server "$port" 'docker load -q -i ${places.rival}/'"$5"'.tar >/dev/null; ${start}'`
  }
]

/** Durations in milliseconds: until the image was loaded, and until the stack was started. */
export interface Took {
  readonly loaded: number
  readonly started: number
}

/** Has a rival deploy an archive over a port. */
export const deployAs = async (
  rival: Rival,
  { images, projects, remote }: Stage,
  version: "first" | "second",
  port: number
): Promise<Took> => {
  const archive = images[version]
  await shell("docker tag \"$1\" \"$2\"", [archive.id, images.name])
  await shell("cp \"$1/compose.yml\" \"$2\"; chown \"$3\": \"$2/compose.yml\"", [
    projects[version],
    `${remote.home}/${places.rival}`,
    remote.user
  ])
  const began = Date.now()
  const { millis, out } = await shell(rival.line, [
    String(port),
    remote.key,
    remote.user,
    archive.path,
    images.name,
    `${projects[version]}/compose.yml`
  ])
  return { loaded: Number(out.split("\n").at(-1)) - began, started: millis }
}

/** Copies an archive with scp as it comes. */
export const copyWithScp = ({ images, remote }: Stage, port: number) =>
  shell(
    `${prologue}
scp -q $options -P "$port" "$4" "$user@127.0.0.1:${places.rival}/copy.tar"`,
    [String(port), remote.key, remote.user, images.first.path]
  )

/** An ssh connection that stays open, over which commands of a shell run. */
export interface Master {
  readonly run: (command: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** Opens a master connection over a port; what runs over it starts a client of its own, as on a command line. */
export const master = async ({ directory, remote }: Stage, port: number): Promise<Master> => {
  const socket = `${directory}/master-${port}`
  const arguments_ = [String(port), remote.key, remote.user, socket]
  await shell(`${prologue}\nssh $options -M -S "$4" -f -N -p "$port" "$user@127.0.0.1"`, arguments_)
  const over = (line: string) => (...more: ReadonlyArray<string>) =>
    shell(`${prologue}\nssh $options -S "$4" ${line}`, [...arguments_, ...more])
  return {
    run: over("-p \"$port\" \"$user@127.0.0.1\" \"$5\""),
    close: over("-O exit \"$user@127.0.0.1\" 2>/dev/null")
  }
}

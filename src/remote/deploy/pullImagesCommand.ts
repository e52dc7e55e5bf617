import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./pullImages.sh.ts"

/**
 * Pulls images from their registries. It prints what Docker says of each, and a `refused` line with the name of the first
 * that does not come; the registry's words are on stderr then.
 * @param containerdStore whether containerd keeps the images: it forgets one whose last name is taken
 */
export const pullImagesCommand = (
  remotePath: string,
  names: ReadonlyArray<string>,
  containerdStore: boolean,
  sudo: boolean
): RemoteCommand => ({
  what: `pulling ${names.join(", ")}`,
  script,
  args: [remotePath, containerdStore ? "containerd" : "docker", ...names],
  sudo
})

import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./pullImages.sh.ts"

/**
 * Pulls images from their registries. Prints Docker's output, and on a failure a `refused` line with the image's name;
 * the registry's message is then on stderr.
 * @param containerdStore true if containerd stores the images, which drops an image that loses its last name
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

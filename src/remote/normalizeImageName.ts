/** Normalizes an image name: `docker.io/library/nginx` and `nginx` become `nginx:latest`. */
export const normalizeImageName = (name: string): string => {
  const short = name.replace(/^(?:index\.)?docker\.io\//, "").replace(/^library\//, "")
  const last = short.slice(short.lastIndexOf("/") + 1)
  return last.includes(":") || last.includes("@") ? short : `${short}:latest`
}

/** Tests for an image name by Docker's rules; only valid names may be passed to its command line. */
export const isImageName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(name) && name.length <= 512

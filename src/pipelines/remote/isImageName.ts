/** Whether Docker takes this for an image name; anything else must not come near its command line. */
export const isImageName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(name) && name.length <= 512

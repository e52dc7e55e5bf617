/** First digits of an image id, as Docker shows it. */
export const shortImageId = (id: string): string => id.replace("sha256:", "").slice(0, 12)
